-- Deliveries that were cancelled because their webhook did not subscribe to them: they can be sent again once it does.
create index deliveries_cancelled on deliveries (webhook_id, id) where status = 'cancelled';
