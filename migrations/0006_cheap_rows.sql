-- What a webhook asks for stands beside the connection it asks it of, so that finding who is to be told of
-- something reads one row for each webhook, not two.
alter table webhook_connections add column notification_types integer not null default 3;
update webhook_connections set notification_types =
  (select notification_types from webhooks where webhooks.id = webhook_connections.webhook_id);
