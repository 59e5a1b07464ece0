-- Deliveries are claimed by webhook: accidents first, then events by risk, then by when they became due.
alter table deliveries add column priority integer not null default 3; -- 0 accident, 1 risk 5, 2 risk 4, 3 the rest
-- Attempts that `log` no longer holds.
alter table deliveries add column attempts_omitted integer not null default 0;
drop index deliveries_due;
create index deliveries_due on deliveries (webhook_id, priority, next_attempt_at) where status = 'pending';

-- How many calls a webhook's receiver may have in flight: null for as many as its ceiling allows.
alter table webhook_health add column window integer;
-- When the message comes that wakes the webhook for its retries.
alter table webhook_health add column timer_at integer;

-- A call whose notifications have more deliveries than fit into one transaction. The rest follows in transactions
-- of their own, webhook by webhook in the order of their ids; `expanded_to` is the last webhook that is done.
create table fan_outs (
  id            text primary key,
  account_id    text not null,
  connection_id text not null,
  type          integer not null check (type in (1, 2)),
  notifications text not null check (json_valid(notifications)), -- [{eventId, level, type, priority}]
  expanded_to   text not null,
  created_at    integer not null
) strict, without rowid;

-- What the last sweep found, so that `/health` reads one row.
create table sweeps (
  id            integer not null primary key check (id = 1),
  at            integer not null,
  oldest_due_at integer -- since when the oldest delivery has been due that nobody works for
) strict;
