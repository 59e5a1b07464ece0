-- What operators allow a webhook's receiver; null: as much as the service does.
alter table webhooks add column max_in_flight integer check (max_in_flight between 1 and 50);
alter table webhooks add column max_per_second integer check (max_per_second between 1 and 1000);

-- When a receiver with a limit per second may be called next (milliseconds since 1970).
alter table webhook_health add column next_call_at integer not null default 0;
