import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * Java's Avro as a judge: a line of JSON in, a line of JSON out, until the input ends.
 *
 * <p>In: writer and reader (texts of schemas), data (values in hex), blocks (whether to give the
 * values also as the blocking encoder writes them). Out: values, each told with its types, or why
 * it cannot be read; and blocked, the values in hex.
 */
public final class Judge {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final EncoderFactory BLOCKS = new EncoderFactory().configureBlockSize(64);

  private Judge() {}

  /** Answers line by line. */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
      out.flush();
    }
  }

  private static ObjectNode answer(JsonNode asked) {
    ObjectNode answer = NODES.objectNode();
    Schema writer;
    Schema reader;
    try {
      writer = new Schema.Parser().parse(asked.get("writer").asText());
      reader = new Schema.Parser().parse(asked.get("reader").asText());
    } catch (RuntimeException refused) {
      return answer.put("refused", String.valueOf(refused.getMessage()));
    }
    ArrayNode values = answer.putArray("values");
    ArrayNode blocked = answer.putArray("blocked");
    var readers = new GenericDatumReader<Object>(writer, reader);
    for (JsonNode hex : asked.get("data")) {
      byte[] data = HexFormat.of().parseHex(hex.asText());
      ObjectNode one = values.addObject();
      try {
        one.set("value", told(reader, read(readers, data)));
      } catch (Exception | StackOverflowError failed) {
        one.removeAll();
        one.put("error", String.valueOf(failed.getMessage()));
      }
      if (asked.get("blocks").asBoolean()) {
        blocked.add(inBlocks(writer, data));
      }
    }
    return answer;
  }

  private static Object read(GenericDatumReader<Object> reader, byte[] data) throws Exception {
    BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(data, null);
    Object value = reader.read(null, decoder);
    if (!decoder.isEnd()) {
      throw new IllegalStateException("there are bytes after the value");
    }
    return value;
  }

  private static String inBlocks(Schema writer, byte[] data) {
    try {
      Object value = read(new GenericDatumReader<>(writer), data);
      var bytes = new ByteArrayOutputStream();
      BinaryEncoder encoder = BLOCKS.blockingBinaryEncoder(bytes, null);
      new GenericDatumWriter<Object>(writer).write(value, encoder);
      encoder.flush();
      return HexFormat.of().formatHex(bytes.toByteArray());
    } catch (Exception failed) {
      return null;
    }
  }

  /** A value with its types: what JSON cannot tell apart gets a letter before it. */
  private static JsonNode told(Schema schema, Object value) {
    switch (schema.getType()) {
      case NULL:
        return NODES.nullNode();
      case BOOLEAN:
        return NODES.booleanNode((Boolean) value);
      case INT:
        return NODES.numberNode((Integer) value);
      case LONG:
        return NODES.numberNode((Long) value);
      case FLOAT:
      case DOUBLE:
        long bits = Double.doubleToRawLongBits(((Number) value).doubleValue());
        return NODES.textNode("f" + HexFormat.of().toHexDigits(bits));
      case STRING:
      case ENUM:
        return NODES.textNode("s" + value);
      case BYTES:
        ByteBuffer buffer = ((ByteBuffer) value).duplicate();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return NODES.textNode("b" + HexFormat.of().formatHex(bytes));
      case FIXED:
        return NODES.textNode("b" + HexFormat.of().formatHex(((GenericFixed) value).bytes()));
      default:
        return toldInside(schema, value);
    }
  }

  private static JsonNode toldInside(Schema schema, Object value) {
    switch (schema.getType()) {
      case ARRAY:
        ArrayNode items = NODES.arrayNode();
        ((Collection<?>) value).forEach(item -> items.add(told(schema.getElementType(), item)));
        return items;
      case MAP:
        ObjectNode entries = NODES.objectNode();
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
          entries.set(entry.getKey().toString(), told(schema.getValueType(), entry.getValue()));
        }
        return entries;
      case UNION:
        if (value == null) {
          return NODES.nullNode();
        }
        Schema branch = schema.getTypes().get(GenericData.get().resolveUnion(schema, value));
        return NODES.arrayNode().add(branch.getFullName()).add(told(branch, value));
      default:
        ObjectNode fields = NODES.objectNode();
        for (Schema.Field field : schema.getFields()) {
          Object inside = ((IndexedRecord) value).get(field.pos());
          fields.set(field.name(), told(field.schema(), inside));
        }
        return fields;
    }
  }
}
