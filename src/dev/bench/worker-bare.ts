import { send } from '../../platform/queue.ts';

/* The minimal code for the service's jobs on the same bindings, for comparison. */

/** A queue message with a whole call in it, so that nothing has to be read. */
export type BareCall = { url: string; body: string };

export type BareEnv = Env & { BARE: Queue<BareCall>; BARE_SLOW: Queue<BareCall> };

/** Handles `/bare/…`. */
export async function bare(
  request: Request,
  env: BareEnv,
  { pathname, searchParams }: URL,
  ctx: ExecutionContext,
): Promise<Response> {
  switch (pathname) {
    case '/bare/vehicles':
      return bareVehicles(env, searchParams);
    case '/bare/refused':
      return Response.json({ status: 401, message: 'Invalid or expired token' }, { status: 401 });
    case '/bare/ingest':
      await bareIngest(env, await request.json());
      break;
    case '/bare/send':
      await send(searchParams.has('slow') ? env.BARE_SLOW : env.BARE, callsOf(await request.json()));
      break;
    case '/bare/notify':
      ctx.waitUntil(env.BARE.send(await request.json<BareCall>()));
  }
  return Response.json({ status: 200 });
}

/** Makes one call with headers like the service's, which are as much to read. */
async function deliver({ url, body }: BareCall): Promise<void> {
  const headers = {
    ...{ 'User-Agent': 'FleetDataService/bare', 'X-Secret': 's3cret', 'Content-Type': 'application/json' },
    ...{ 'Delivery-Id': crypto.randomUUID(), 'Delivery-Attempt': '1' },
  };
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  await response.text();
}

const inFlight = new Map<string, number>();

/** Makes the calls of a batch, so many at a time and to a receiver, as the service does. */
export async function bareDeliver(calls: BareCall[], atOnce: number, toReceiver: number): Promise<void> {
  const left = calls.filter(({ url }) => url).values();
  const worker = async () => {
    for (const call of left) {
      while ((inFlight.get(call.url) ?? 0) >= toReceiver) await scheduler.wait(10);
      inFlight.set(call.url, (inFlight.get(call.url) ?? 0) + 1);
      await deliver(call);
      inFlight.set(call.url, (inFlight.get(call.url) ?? 1) - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** One prepared query for the same rows, and the same JSON, without token, checks and paging. */
async function bareVehicles(env: Env, query: URLSearchParams): Promise<Response> {
  const { results } = await env.DB.prepare(
    `select id, connection_id as connectionId, source_id as sourceId, name, vin, groups, status, make, model, year,
       fuel_type as fuelType, license_plate as licensePlate, odometer_km as odometerKm,
       last_location as lastLocation, external_id as externalId, created_at as createdAt, updated_at as updatedAt
     from vehicles where connection_id = ?1 order by created_at, id limit 50`,
  )
    .bind(query.get('connection'))
    .all<Record<string, never>>();
  const data = results.map((row) => ({
    ...row,
    groups: JSON.parse(row.groups ?? '[]'),
    lastLocation: row.lastLocation && JSON.parse(row.lastLocation),
    createdAt: new Date(row.createdAt ?? 0).toISOString(),
    updatedAt: new Date(row.updatedAt ?? 0).toISOString(),
  }));
  return Response.json({ status: 200, message: 'Vehicles', data, next: query.get('next') });
}

/** Rows as the service would write them: events, and their deliveries to each webhook. */
type BareRows = { [table in 'safety_events' | 'deliveries']: { id: string }[] };

/** One insert for each table, and a message for each delivery, which is dropped. */
async function bareIngest(env: BareEnv, rows: BareRows): Promise<void> {
  const inserts = Object.entries(rows).map(([table, all]) => {
    const columns = Object.keys(all[0] ?? {});
    const values = columns.map((column) => `value->>'${column}'`);
    const text = `insert into ${table} (${columns}) select ${values} from json_each(?1) where true`;
    return env.DB.prepare(text).bind(JSON.stringify(all));
  });
  await env.DB.batch(inserts);
  const calls = rows.deliveries.map(({ id }): BareCall => ({ url: '', body: id }));
  await send(env.BARE, calls);
}

/** The calls of each receiver, in messages of one. */
type BareCalls = { urls: string[]; body: string; count: number };

const callsOf = ({ urls, body, count }: BareCalls): BareCall[] =>
  Array.from({ length: count }, (_, i) => ({ url: urls[i % urls.length] ?? '', body }));
