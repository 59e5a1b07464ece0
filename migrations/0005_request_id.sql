-- The request that a notification came in by, to follow it through the log. Read by key, never searched for.
alter table notifications add column request_id text;
