-- The list of deliveries goes from webhook to webhook of an account in the order of their ids. Unique, because only
-- then does SQLite know that deliveries read in this order need no sorting. A row for each webhook, none for deliveries.
create unique index webhooks_by_id on webhooks (account_id, id);
