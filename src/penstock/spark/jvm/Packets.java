package penstock;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.QueryExecution;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/** The packets of a batch, one after the other, each after its length. */
public class Packets {
    /** Gives them, or writes them to a file and gives null where they are more than `most` bytes. */
    public static byte[] collect(Dataset rows, String file, int most, boolean whole)
            throws java.io.IOException {
        RDD found = rowsOf(rows.queryExecution());
        if (whole) {
            RDD read = readOf(found);
            // What a single task reads it has taken through all levels: they need not be run.
            if (read.getNumPartitions() == 1) found = read;
        }
        Take take = new Take(rows.schema().fieldIndex("blob"));
        Object[] parts = (Object[]) found.sparkContext().runJob(
            found, take, ClassTag$.MODULE$.apply(byte[][].class));
        long size = 0;
        for (int i = 0; i < parts.length; i++) {
            byte[][] part = (byte[][]) parts[i];
            for (int j = 0; j < part.length; j++) size += part[j].length;
        }
        if (size <= most) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream((int) size + 64);
            write(parts, bytes);
            return bytes.toByteArray();
        }
        OutputStream written = new BufferedOutputStream(new FileOutputStream(file), 65536);
        try {
            write(parts, written);
        } finally {
            written.close();
        }
        return null;
    }

    // What Spark gives to the end of a batch has a plan already: to plan it once more costs more.
    private static RDD rowsOf(QueryExecution execution) {
        LogicalPlan plan = execution.logical();
        return plan instanceof LogicalRDD ? ((LogicalRDD) plan).rdd() : execution.toRdd();
    }

    // What is read, before the first exchange; without an exchange, all there is.
    private static RDD readOf(RDD rows) {
        RDD read = rows;
        RDD at = rows;
        while (at.dependencies().nonEmpty()) {
            Dependency before = (Dependency) at.dependencies().head();
            at = before.rdd();
            if (before instanceof ShuffleDependency) {
                // An exchange first puts beside each row the number of its task.
                at = ((Dependency) at.dependencies().head()).rdd();
                read = at;
            }
        }
        return read;
    }

    private static void write(Object[] parts, OutputStream target) throws java.io.IOException {
        DataOutputStream out = new DataOutputStream(target);
        for (int i = 0; i < parts.length; i++) {
            byte[][] part = (byte[][]) parts[i];
            for (int j = 0; j < part.length; j++) {
                out.writeInt(part[j].length);
                out.write(part[j]);
            }
        }
        out.flush();
    }

    /** A class with a name: of a lambda Spark reads the byte code before every job. */
    public static class Take extends AbstractFunction2 implements Serializable {
        private final int place;

        public Take(int place) {
            this.place = place;
        }

        public Object apply(Object context, Object given) {
            Iterator rows = (Iterator) given;
            ArrayList found = new ArrayList();
            while (rows.hasNext()) {
                found.add(((InternalRow) rows.next()).getBinary(this.place));
            }
            byte[][] taken = new byte[found.size()][];
            for (int i = 0; i < taken.length; i++) taken[i] = (byte[]) found.get(i);
            return taken;
        }
    }
}
