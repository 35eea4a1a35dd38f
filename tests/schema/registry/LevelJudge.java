import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaCompatibilityType;

/** Java's Avro as a judge: pairs of schemas in, a line each; what it thinks of them out. */
public final class LevelJudge {
  private static final ObjectMapper JSON = new ObjectMapper();

  private LevelJudge() {}

  /** Answers line by line. */
  public static void main(String[] arguments) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonNode asked = JSON.readTree(line);
      Schema earlier = new Schema.Parser().parse(asked.get("old").asText());
      Schema later = new Schema.Parser().parse(asked.get("new").asText());
      ObjectNode answer = JSON.createObjectNode();
      answer.put("backward", reads(later, earlier));
      answer.put("forward", reads(earlier, later));
      answer.put("text", later.toString());
      System.out.println(JSON.writeValueAsString(answer));
    }
  }

  private static boolean reads(Schema reader, Schema writer) {
    return SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getType()
        == SchemaCompatibilityType.COMPATIBLE;
  }
}
