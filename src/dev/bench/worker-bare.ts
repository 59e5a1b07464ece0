/** The minimal code for the service's jobs on the same bindings, for comparison. */

/** A queue message with a whole call in it, so that nothing has to be read. */
export type BareCall = { url: string; body: string };

export type BareEnv = Env & { BARE: Queue<BareCall>; BARE_SLOW: Queue<BareCall> };

/** Handles `/bare/…`. */
export async function bare(
  request: Request,
  env: BareEnv,
  url: URL,
  ctx: ExecutionContext,
): Promise<Response> {
  switch (url.pathname) {
    case '/bare/vehicles':
      return bareVehicles(env, url);
    case '/bare/refused':
      return Response.json({ status: 401, message: 'Invalid or expired token' }, { status: 401 });
    case '/bare/ingest':
      return bareIngest(env, await request.json<BareRecords>());
    case '/bare/send':
      return bareSend(url.searchParams.has('slow') ? env.BARE_SLOW : env.BARE, await request.json());
    case '/bare/notify':
      ctx.waitUntil(env.BARE.send(await request.json<BareCall>()));
      return Response.json({ status: 200 });
    default:
      return Response.json({ status: 404 }, { status: 404 });
  }
}

/** Makes one call with the same headers as the service's, so that receivers and the runtime have as much to read. */
async function deliver({ url, body }: BareCall): Promise<void> {
  const headers = {
    'User-Agent': 'FleetDataService/bare',
    'X-Secret': 's3cret',
    'Content-Type': 'application/json',
    'Delivery-Id': crypto.randomUUID(),
    'Delivery-Attempt': '1',
  };
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  await response.text();
}

/** Makes the calls of a batch, as many at a time as the service does. */
export async function bareDeliver(calls: BareCall[]): Promise<void> {
  const left = calls.filter(({ url }) => url).values();
  const worker = async () => {
    for (const call of left) await deliver(call);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

const inFlight = new Map<string, number>();
const maxInFlight = 50;

/** Makes the five calls of a batch, with no more in flight to a receiver than the service allows. */
export async function bareDeliverSlow(calls: BareCall[]): Promise<void> {
  await Promise.all(
    calls.map(async (call) => {
      while ((inFlight.get(call.url) ?? 0) >= maxInFlight) await scheduler.wait(10);
      inFlight.set(call.url, (inFlight.get(call.url) ?? 0) + 1);
      await deliver(call);
      inFlight.set(call.url, (inFlight.get(call.url) ?? 1) - 1);
    }),
  );
}

/** One prepared query for the same rows, and the same JSON, without token, checks and paging. */
async function bareVehicles(env: Env, url: URL): Promise<Response> {
  const { results } = await env.DB.prepare(
    `select id, connection_id as connectionId, source_id as sourceId, name, vin, groups, status, make, model, year,
       fuel_type as fuelType, license_plate as licensePlate, odometer_km as odometerKm,
       last_location as lastLocation, external_id as externalId, created_at as createdAt, updated_at as updatedAt
     from vehicles where connection_id = ?1 order by created_at, id limit 50`,
  )
    .bind(url.searchParams.get('connection'))
    .all<Record<string, never>>();
  const data = results.map((row) => ({
    ...row,
    groups: JSON.parse(row.groups ?? '[]'),
    lastLocation: row.lastLocation && JSON.parse(row.lastLocation),
    createdAt: new Date(row.createdAt ?? 0).toISOString(),
    updatedAt: new Date(row.updatedAt ?? 0).toISOString(),
  }));
  return Response.json({ status: 200, message: 'Vehicles', data, next: url.searchParams.get('next') });
}

/** Rows as the service would write them, prepared by the client: events, and their deliveries to each webhook. */
type BareRecords = {
  events: { id: string }[];
  deliveries: { webhookId: string; id: string; eventId: string }[];
  columns: string[];
};

/** One insert of the events and one of the deliveries, and a message for each delivery. */
async function bareIngest(env: BareEnv, { events, deliveries, columns }: BareRecords): Promise<Response> {
  const values = columns.map((column) => `value->>'${column}'`).join(', ');
  await env.DB.batch([
    env.DB.prepare(
      `insert into safety_events (${columns.join(', ')}) select ${values} from json_each(?1) where true`,
    ).bind(JSON.stringify(events)),
    env.DB.prepare(
      `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       select value->>'webhookId', value->>'id', 'bare', value->>'eventId', 0, 'pending', 9000000000000000
       from json_each(?1)`,
    ).bind(JSON.stringify(deliveries)),
  ]);
  for (let at = 0; at < deliveries.length; at += 100)
    await env.BARE.sendBatch(
      deliveries.slice(at, at + 100).map(({ id }) => ({ body: { url: '', body: id } })), // dropped
    );
  return Response.json({ status: 200 });
}

/** The calls of each receiver, in messages of one. */
async function bareSend(
  queue: Queue<BareCall>,
  { urls, body, count }: { urls: string[]; body: string; count: number },
): Promise<Response> {
  const calls = Array.from({ length: count }, (_, i) => ({
    body: { url: urls[i % urls.length] ?? '', body },
  }));
  for (let at = 0; at < count; at += 100) await queue.sendBatch(calls.slice(at, at + 100));
  return Response.json({ status: 200 });
}
