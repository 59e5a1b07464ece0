-- How a webhook's receiver has been doing. A row appears with its first failure; the API shows nothing of it.
create table webhook_health (
  webhook_id text primary key references webhooks (id) on delete cascade,
  failures   integer not null, -- attempts that failed in a row
  openings   integer not null, -- how often in a row the circuit has opened
  open_until integer not null, -- until then nothing is sent
  probe_id   text              -- the delivery that may try whether the receiver is back
) strict, without rowid;

-- A delivery that only waits for its receiver's circuit has failed by then, whatever attempts it has left.
alter table deliveries add column give_up_at integer not null default 0;

create index deliveries_failed on deliveries (webhook_id, id) where status = 'failed';
