package penstock;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;
import scala.runtime.AbstractPartialFunction;

/** The packets of a batch, one after the other, each after its length. */
public class Packets {
    /** Gives the number of tasks that read a batch. */
    public static int tasksOf(Dataset rows) {
        return rowsOf(rows.queryExecution()).getNumPartitions();
    }

    /**
     * Gives them, or writes them to a file and gives null where they are more than `most` bytes.
     * The stages of `levels`, if there are any, are those of another batch: they were planned once.
     */
    public static byte[] collect(Dataset rows, Dataset levels, String file, int most)
            throws java.io.IOException {
        RDD found = rowsOf(rows.queryExecution());
        if (levels != null) {
            SparkPlan planned = levels.queryExecution().executedPlan();
            found = ((SparkPlan) planned.transform(new Instead(found))).execute();
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

    /** Puts the rows of one batch where the plan has those of another. */
    public static class Instead extends AbstractPartialFunction {
        private final RDD rows;

        public Instead(RDD rows) {
            this.rows = rows;
        }

        public boolean isDefinedAt(Object node) {
            return node instanceof RDDScanExec;
        }

        public Object applyOrElse(Object node, scala.Function1 otherwise) {
            if (!(node instanceof RDDScanExec)) return otherwise.apply(node);
            RDDScanExec scan = (RDDScanExec) node;
            return scan.copy(scan.output(), this.rows, scan.name(), scan.outputPartitioning(),
                scan.outputOrdering(), scan.stream());
        }
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
