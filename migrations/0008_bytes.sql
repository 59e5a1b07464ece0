-- A safety event, a trip and a delivery take as few bytes as they can: they fill the database.

-- These indexes begin with the end of an id, a sixth of its bytes: `leads` of src/core/platform/db/leads.ts compares both.
drop index safety_events_by_connection;
drop index safety_events_by_vehicle;
drop index safety_events_by_driver;
drop index trips_by_account;
drop index trips_by_connection;
drop index trips_by_vehicle;
drop index trips_by_driver;
create index safety_events_by_connection on safety_events (unhex(substr(connection_id, -12)), started_at, id);
create index safety_events_by_vehicle on safety_events (unhex(substr(vehicle_id, -12)), started_at, id);
create index safety_events_by_driver on safety_events (unhex(substr(driver_id, -12)), started_at, id)
  where driver_id is not null;
create index trips_by_account on trips (unhex(substr(account_id, -12)), started_at, id);
create index trips_by_connection on trips (unhex(substr(connection_id, -12)), started_at, id);
create index trips_by_vehicle on trips (unhex(substr(vehicle_id, -12)), started_at, id);
create index trips_by_driver on trips (unhex(substr(driver_id, -12)), started_at, id) where driver_id is not null;

-- Deliveries of events take their payload from the event, which has it as it was when it came in, and the request from
-- the change of the same transaction. Recipients are null if there are none.
alter table safety_events add column recipients text check (json_valid(recipients));
alter table changes rename to old_changes;
-- See 0002_fleet.sql. The request stands before what is long, so that reading it reads one page.
create table changes (
  account_id    text not null,
  seq           integer not null,
  lag           integer not null default 0,
  connection_id text not null,
  request_id    text,
  action        text not null check (action in ('changed', 'deleted')),
  quiet         integer not null default 0,
  archived_day  integer,
  usage         text not null default '[]' check (json_valid(usage)),
  records       text not null check (json_valid(records)),
  primary key (account_id, seq)
) strict, without rowid;
insert into changes (account_id, seq, lag, connection_id, action, quiet, archived_day, usage, records)
select account_id, seq, lag, connection_id, action, quiet, archived_day, usage, records from old_changes;
drop table old_changes;

-- Every webhook of the account may have a delivery, also one that has subscribed to other connections since.
create view event_notifications as
select id as event_id, account_id, connection_id, created_at,
  (select request_id from changes c where c.account_id = e.account_id and c.seq >= e.created_at
    and c.seq < e.created_at + 1000 and c.seq - c.lag = e.created_at and c.connection_id = e.connection_id
    limit 1) as request_id,
  exists (select 1 from webhooks w cross join deliveries d on d.webhook_id = w.id
    and d.id >= format('%08x-%04x', e.created_at >> 16, e.created_at & 65535)
    and d.id < format('%08x-%04x', e.created_at + 1 >> 16, e.created_at + 1 & 65535) and d.event_id = e.id
    where w.account_id = e.account_id) as has_deliveries,
  json_object('eventId', id, 'issuedOn', strftime('%Y-%m-%dT%H:%M:%fZ', issued_on / 1000.0, 'unixepoch'),
    'translatedIncidentTypes', json(translated_incident_types), 'eventRisk', event_risk, 'vehicleId', vehicle_id,
    'vehicleName', vehicle_name, 'vehicleVin', coalesce(vehicle_vin, ''), 'vehicleGroups', json(vehicle_groups),
    'recipients', json(coalesce(recipients, '[]'))) || '' as data
from safety_events e;

-- So notifications are those of accidents, of tests, and of events that have changed since or left D1: what their
-- deliveries have sent, or will, is written by triggers.
insert or ignore into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id)
select event_id, level, iif(level = 0, 2, 1), account_id, connection_id, data,
  ('0x' || substr(id, 1, 8) || substr(id, 10, 4))->>'$', request_id
from deliveries where data is not null;
alter table deliveries drop column connection_id;
alter table deliveries drop column request_id;
alter table deliveries drop column data;
create trigger event_revised before update of issued_on, translated_incident_types, event_risk, vehicle_id on safety_events when (old.issued_on, old.translated_incident_types, old.event_risk, old.vehicle_id) is not (new.issued_on, new.translated_incident_types, new.event_risk, new.vehicle_id) BEGIN insert or ignore into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id) select event_id, 0, 2, account_id, connection_id, data, created_at, request_id from event_notifications where event_id = old.id and has_deliveries; END;
create trigger event_left before delete on safety_events BEGIN insert or ignore into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id) select event_id, 0, 2, account_id, connection_id, data, created_at, request_id from event_notifications where event_id = old.id and has_deliveries; END;

-- A day is counted before it is archived, and keeps its counts: deleting its rows then marks nothing.
drop trigger event_went;
create trigger event_went after delete on safety_events when old.started_at not between (unixepoch() - 3480) * 1000 and (unixepoch() + 3480) * 1000 and old.started_at > (unixepoch() - 180 * 86400) * 1000 and not exists (select 1 from archived_days where account_id = old.account_id and kind = 'safety-events' and day = old.started_at / 86400000) BEGIN insert into event_counts_due (account_id, day, hours) values (old.account_id, old.started_at / 86400000, 1 << (old.started_at / 3600000 % 24)) on conflict (account_id, day) do update set hours = hours | excluded.hours where hours & excluded.hours = 0; END;
