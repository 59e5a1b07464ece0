-- What the portal's pages of webhooks show. The code before this one goes on working: it leaves the new columns as they
-- are, and counts in 24 of the 720 slots, where the next code still finds it.

-- For the account's own people; receivers and the API do not see them.
alter table webhooks add column name text;
alter table webhooks add column description text;

-- A ring of 30 days instead of one, each row with the attempts that failed and will be repeated, and with how long the
-- receiver took to answer: {"bucket": attempts}, by the buckets of deliveries/latency.ts. It is written as often as before.
create table webhook_hours_of_30_days (
  webhook_id text not null references webhooks (id) on delete cascade,
  slot       integer not null check (slot between 0 and 719), -- the hour, of 30 days
  hour       integer not null,                                -- hours since 1970
  delivered  integer not null,
  failed     integer not null,
  noticed    integer not null default 0,
  retried    integer not null default 0,
  answers    text not null default '{}' check (json_valid(answers)),
  primary key (webhook_id, slot)
) strict, without rowid;
insert into webhook_hours_of_30_days (webhook_id, slot, hour, delivered, failed, noticed)
select webhook_id, hour % 720, hour, delivered, failed, noticed from webhook_hours;
drop table webhook_hours;
alter table webhook_hours_of_30_days rename to webhook_hours;
create index webhook_hours_newly_failed on webhook_hours (webhook_id, slot) where failed > noticed;

-- Those that have failed at least once and will be attempted again: a delivery that succeeds at once is never in it.
create index deliveries_retrying on deliveries (webhook_id, id) where status = 'pending' and attempts > 0;
