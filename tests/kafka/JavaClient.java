import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes what it is given in one transaction, or reads so many committed records. */
public class JavaClient {
    public static void main(String[] words) throws Exception {
        if (words[1].equals("write")) {
            write(words[0], words[2]);
        } else {
            read(words[0], words[2], Integer.parseInt(words[3]));
        }
    }

    static void write(String servers, String topic) throws Exception {
        Map<String, Object> settings =
            Map.of("bootstrap.servers", servers, "transactional.id", topic + "-java");
        var text = new StringSerializer();
        try (var producer = new KafkaProducer<String, String>(settings, text, text)) {
            producer.initTransactions();
            producer.beginTransaction();
            var lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] pair = line.split(":", 2);
                producer.send(new ProducerRecord<>(topic, pair[0], pair[1]));
            }
            producer.commitTransaction();
        }
    }

    static void read(String servers, String topic, int count) {
        Map<String, Object> settings =
            Map.of("bootstrap.servers", servers, "isolation.level", "read_committed");
        var text = new StringDeserializer();
        try (var consumer = new KafkaConsumer<String, String>(settings, text, text)) {
            List<TopicPartition> places = consumer.partitionsFor(topic).stream()
                .map(part -> new TopicPartition(topic, part.partition()))
                .collect(Collectors.toList());
            consumer.assign(places);
            consumer.seekToBeginning(places);
            for (int found = 0; found < count; ) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    System.out.println(record.key() + ":" + record.value());
                    found++;
                }
            }
        }
    }
}
