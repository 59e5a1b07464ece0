-- Webhooks, what they are notified of, and how their receivers respond.

create table webhooks (
  id                 text primary key,
  account_id         text not null references accounts (id),
  url                text not null,
  normalised_url     text not null,
  http_verb          text not null check (http_verb in ('POST', 'PUT')),
  headers            text not null check (json_valid(headers)), -- encrypted
  notification_types integer not null check (notification_types between 1 and 3), -- bits: 1 accident, 2 event
  options            text not null default '{}' check (json_valid(options)), -- what it has of options, by name: secrets are encrypted
  all_connections    integer not null default 0 check (all_connections in (0, 1)), -- whether new ones join by themselves
  created_at         integer not null,
  -- What operators allow its receiver, or null for as much as the service does.
  max_in_flight      integer check (max_in_flight between 1 and 50),
  max_per_second     integer check (max_per_second between 1 and 1000),
  stopped_at         integer, -- while the account waits to be deleted, its webhooks are called no more
  paused_at          integer, -- when its account paused it, or null: until it is resumed, what there is to send waits
  -- For the users of the account: receivers and the API do not see them.
  name               text,
  description        text
) strict, without rowid;
create unique index webhooks_by_url on webhooks (account_id, normalised_url);
create index webhooks_by_account on webhooks (account_id, created_at, id);
-- The list of deliveries goes from webhook to webhook of an account in the order of their ids. Unique, because only then
-- does SQLite know that deliveries read in this order need no sorting. A row for each webhook, none for deliveries.
create unique index webhooks_by_id on webhooks (account_id, id);
-- Those that are paused, so that the sweep reads no row of the others.
create index webhooks_paused on webhooks (id) where paused_at is not null;

-- What a webhook subscribes to stands beside the connection it subscribes to, so that finding whom to notify reads one
-- row for each webhook, not two.
create table webhook_connections (
  connection_id      text not null references connections (id),
  webhook_id         text not null references webhooks (id) on delete cascade,
  notification_types integer not null default 3,
  place              integer not null default 0, -- among those of the webhook, as its account named them, or in the order in which all were added
  filtered           integer not null default 0, -- whether options of the webhook may hold notifications back: only then they are read
  primary key (connection_id, webhook_id)
) strict, without rowid;
create index webhook_connections_by_webhook on webhook_connections (webhook_id, connection_id);

-- One thing to notify customers of: an event (level 0) or one level of an accident, with the finished payload. Only
-- accidents and tests have rows from the beginning: deliveries of events take their payload from the event, as the view
-- below makes it, and the request from the change of the same transaction. An event that changes or leaves D1 gets a row
-- then, by triggers, of what its deliveries have sent, or will.
create table notifications (
  event_id      text not null,
  level         integer not null check (level between 0 and 3),
  type          integer not null check (type in (1, 2)),
  account_id    text not null,
  connection_id text not null,
  data          text not null check (json_valid(data)),
  created_at    integer not null,
  request_id    text, -- of the request that it came in by, to follow it through the log
  primary key (event_id, level)
) strict, without rowid;

-- One notification for one webhook. No foreign key to webhooks: a delivery outlives its webhook, to end as cancelled.
create table deliveries (
  webhook_id       text not null,
  id               text not null,
  account_id       text not null,
  event_id         text not null,
  level            integer not null,
  status           text not null check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts         integer not null default 0,
  next_attempt_at  integer, -- when it is due, null only once it is no longer pending
  claimed_until    integer not null default 0,
  finished_at      integer,
  log              text not null default '[]' check (json_valid(log)),
  priority         integer not null default 3, -- 0 accident, 1 risk 5, 2 risk 4, 3 the rest
  attempts_omitted integer not null default 0, -- that `log` no longer holds
  is_test          integer not null default 0, -- of a made-up notification that a user asked for
  primary key (webhook_id, id),
  check (status <> 'pending' or next_attempt_at is not null)
) strict, without rowid;
-- Deliveries are claimed by webhook: accidents first, then events by risk, then by when they became due.
create index deliveries_due on deliveries (webhook_id, priority, next_attempt_at)
  where status = 'pending';
create index deliveries_failed on deliveries (webhook_id, id) where status = 'failed';
-- Cancelled because their webhook did not subscribe to them: they can be sent again once it does.
create index deliveries_cancelled on deliveries (webhook_id, id) where status = 'cancelled';
-- Those that have failed at least once and will be attempted again: a delivery that succeeds at once is never in it.
create index deliveries_retrying on deliveries (webhook_id, id) where status = 'pending' and attempts > 0;

-- A call whose notifications have more deliveries than fit into one transaction. The rest follows in transactions
-- of their own, webhook by webhook in the order of their ids.
create table fan_outs (
  id            text primary key,
  account_id    text not null,
  connection_id text not null,
  type          integer not null check (type in (1, 2)),
  notifications text not null check (json_valid(notifications)), -- [{eventId, level, type, priority, data}], with as much data as options need
  expanded_to   text not null, -- the last webhook that is done
  created_at    integer not null
) strict, without rowid;

-- How the receiver of a webhook has been doing. A row appears with its first failure. The API shows nothing of it.
create table webhook_health (
  webhook_id    text primary key references webhooks (id) on delete cascade,
  failures      integer not null default 0, -- attempts that failed in a row
  openings      integer not null default 0, -- how often in a row the circuit has opened
  open_until    integer not null default 0, -- until then nothing is sent
  window        integer not null default 5, -- calls it may have in flight
  timer_at      integer,                    -- when the message comes that wakes the webhook for its retries
  next_call_at  integer not null default 0, -- when a receiver with a limit per second may be called next
  paused_since  integer,                    -- since when the circuit has been open or half open, or null if it is closed
  last_failure  text,                       -- the last attempt that failed, as {"result", "status"}
  paused_alert_at  integer not null default 0, -- when users were last notified of each kind
  failed_alert_at  integer not null default 0,
  working_alert_at integer not null default 0
) strict, without rowid;
-- Receivers that are paused and users do not know it, and those that work again without that.
create index webhook_health_news on webhook_health (paused_since)
  where (paused_since is null) = (paused_alert_at > working_alert_at);

-- How the deliveries and attempts of a webhook ended, hour by hour. A ring of 30 days, so that nothing has to be
-- deleted: an hour takes the place of the one 30 days before it.
create table webhook_hours (
  webhook_id text not null references webhooks (id) on delete cascade,
  slot       integer not null check (slot between 0 and 719), -- the hour, of 30 days
  hour       integer not null,                                -- hours since 1970
  delivered  integer not null,
  failed     integer not null,
  noticed    integer not null default 0, -- how many of the failed ones users were notified of
  retried    integer not null default 0, -- attempts that failed and will be repeated
  accidents  integer not null default 0, -- deliveries of accidents that were first attempted, or failed without an attempt
  accidents_in_time integer not null default 0, -- of these, those attempted within 5 s
  primary key (webhook_id, slot)
) strict, without rowid;
create index webhook_hours_newly_failed on webhook_hours (webhook_id, slot) where failed > noticed;
-- Those with accidents, of all webhooks, for the operators' share in time.
create index webhook_hours_of_accidents on webhook_hours (hour) where accidents > 0;

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
-- What an event was notified of is kept when it leaves or changes. The records' upsert decides about conflicts in its
-- triggers too: `or ignore` does not hold there.
create trigger event_left before delete on safety_events BEGIN insert or ignore into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id) select event_id, 0, 2, account_id, connection_id, data, created_at, request_id from event_notifications where event_id = old.id and has_deliveries; END;
create trigger event_revised before update of issued_on, translated_incident_types, event_risk, vehicle_id on safety_events when (old.issued_on, old.translated_incident_types, old.event_risk, old.vehicle_id) is not (new.issued_on, new.translated_incident_types, new.event_risk, new.vehicle_id) and not exists (select 1 from notifications where event_id = old.id and level = 0) BEGIN insert into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id) select event_id, 0, 2, account_id, connection_id, data, created_at, request_id from event_notifications where event_id = old.id and has_deliveries; END;
