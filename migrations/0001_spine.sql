-- Times are integers: milliseconds since 1970, UTC.

create table accounts (
  id         text primary key,
  name       text not null,
  status     text not null default 'active' check (status in ('active', 'suspended')),
  created_at integer not null
) strict, without rowid;

create table connections (
  id                text primary key,
  account_id        text not null references accounts (id),
  name              text,
  provider          text not null,
  tsp               text not null,
  health_status     integer not null default 1 check (health_status between 1 and 4),
  incident_type_map text check (json_valid(incident_type_map)),
  created_at        integer not null,
  updated_at        integer not null
) strict, without rowid;
create index connections_by_account on connections (account_id, created_at, id);

-- API tokens (no connection) and ingest keys (one connection) alike. The value itself is kept nowhere.
create table tokens (
  id            text primary key,
  account_id    text not null references accounts (id),
  connection_id text references connections (id),
  scope         text not null check (scope in ('api', 'ingest')),
  name          text not null,
  hash          text not null,
  last_four     text not null,
  created_at    integer not null,
  expires_at    integer,
  last_used_at  integer,
  revoked_at    integer,
  check ((scope = 'ingest') = (connection_id is not null))
) strict, without rowid;
create unique index tokens_by_hash on tokens (hash);
create index tokens_by_account on tokens (account_id, created_at, id);

create table webhooks (
  id                 text primary key,
  account_id         text not null references accounts (id),
  url                text not null,
  normalised_url     text not null,
  http_verb          text not null check (http_verb in ('POST', 'PUT')),
  headers            text not null check (json_valid(headers)),
  notification_types integer not null check (notification_types between 1 and 3), -- bits: 1 accident, 2 event
  created_at         integer not null
) strict, without rowid;
create unique index webhooks_by_url on webhooks (account_id, normalised_url);
create index webhooks_by_account on webhooks (account_id, created_at, id);

create table webhook_connections (
  connection_id text not null references connections (id),
  webhook_id    text not null references webhooks (id) on delete cascade,
  primary key (connection_id, webhook_id)
) strict, without rowid;
create index webhook_connections_by_webhook on webhook_connections (webhook_id, connection_id);

create table vehicles (
  id                text primary key,
  account_id        text not null,
  connection_id     text not null references connections (id),
  source_id         text not null,
  name              text not null,
  vin               text,
  groups            text not null check (json_valid(groups)),
  status            text not null check (status in ('active', 'inactive')),
  make              text,
  model             text,
  year              integer,
  fuel_type         text,
  license_plate     text,
  odometer_km       real,
  last_location     text check (json_valid(last_location)),
  source_updated_at integer,
  created_at        integer not null,
  updated_at        integer not null
) strict, without rowid;
create index vehicles_by_connection on vehicles (connection_id, created_at, id);

-- The provider's name, and the vehicle's name, VIN and groups, are kept as they were when the event came in.
create table safety_events (
  id                        text primary key,
  account_id                text not null,
  connection_id             text not null references connections (id),
  source_id                 text not null,
  tsp                       text not null,
  incident_types            text not null check (json_valid(incident_types)),
  translated_incident_types text not null check (json_valid(translated_incident_types)),
  event_risk                integer not null check (event_risk between 1 and 5),
  issued_on                 integer not null,
  started_at                integer not null,
  ended_at                  integer,
  location                  text check (json_valid(location)),
  vehicle_id                text not null,
  vehicle_name              text not null,
  vehicle_vin               text,
  vehicle_groups            text not null check (json_valid(vehicle_groups)),
  driver_id                 text,
  trip_id                   text,
  max_speed_kph             real,
  speed_limit_kph           real,
  source_updated_at         integer,
  created_at                integer not null,
  updated_at                integer not null
) strict, without rowid;
create index safety_events_by_connection on safety_events (connection_id, started_at, id);

-- One thing to tell customers: an event (level 0) or one level of an accident. The key is what makes each
-- of them told once. `data` is the finished payload.
create table notifications (
  event_id      text not null,
  level         integer not null check (level between 0 and 3),
  type          integer not null check (type in (1, 2)),
  account_id    text not null,
  connection_id text not null,
  data          text not null check (json_valid(data)),
  created_at    integer not null,
  primary key (event_id, level)
) strict, without rowid;

-- No foreign key to webhooks: a delivery outlives its webhook, to end as cancelled.
create table deliveries (
  webhook_id      text not null,
  id              text not null,
  account_id      text not null,
  event_id        text not null,
  level           integer not null,
  status          text not null check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts        integer not null default 0,
  next_attempt_at integer not null,
  claimed_until   integer not null default 0,
  finished_at     integer,
  log             text not null default '[]' check (json_valid(log)),
  primary key (webhook_id, id)
) strict, without rowid;
create index deliveries_due on deliveries (next_attempt_at) where status = 'pending';
