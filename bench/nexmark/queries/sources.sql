-- The topics of events have columns of their own: nothing is decoded.
CREATE STREAM person WITH (KAFKA_TOPIC='person', FORMAT='TYPED', TIMESTAMP='date_time', LATENESS='4 SECONDS');
CREATE STREAM auction WITH (KAFKA_TOPIC='auction', FORMAT='TYPED', TIMESTAMP='date_time', LATENESS='4 SECONDS');
CREATE STREAM bid WITH (KAFKA_TOPIC='bid', FORMAT='TYPED', TIMESTAMP='date_time', LATENESS='4 SECONDS');
