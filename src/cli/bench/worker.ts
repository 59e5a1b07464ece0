import { app } from '../../app.ts';
import worker from '../../index.ts';

/**
 * The Worker that benchmarks run: the service as it is, and beside it, under `/bare/`, the least that could do
 * the same job on the same bindings. `/count/…` answers as the service does, and says what D1 read for it.
 */
export default {
  ...worker,
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === '/bare/vehicles') return bareVehicles(env, url);
    if (url.pathname === '/fill') return fill(request, env);
    if (url.pathname.startsWith('/count/')) return counted(request, env, ctx, url);
    if (url.pathname.startsWith('/unlimited/')) return unlimited(request, env, ctx, url);
    return app.fetch(request, env, ctx);
  },
};

/** One prepared query for the same rows, and the same JSON: no token, no check, no paging. */
async function bareVehicles(env: Env, url: URL): Promise<Response> {
  const { results } = await env.DB.prepare(
    `select id, connection_id, source_id, name, vin, groups, status, make, model, year, fuel_type, license_plate,
       odometer_km, last_location, created_at, updated_at
     from vehicles where connection_id = ?1 order by created_at, id limit 50`,
  )
    .bind(url.searchParams.get('connection'))
    .all<Record<string, never>>();
  const data = results.map((row) => ({
    id: row.id,
    connectionId: row.connection_id,
    sourceId: row.source_id,
    name: row.name,
    vin: row.vin,
    groups: JSON.parse(row.groups ?? '[]'),
    status: row.status,
    make: row.make,
    model: row.model,
    year: row.year,
    fuelType: row.fuel_type,
    licensePlate: row.license_plate,
    odometerKm: row.odometer_km,
    lastLocation: row.last_location && JSON.parse(row.last_location),
    createdAt: new Date(row.created_at ?? 0).toISOString(),
    updatedAt: new Date(row.updated_at ?? 0).toISOString(),
  }));
  return Response.json({ status: 200, message: 'Vehicles', data, next: url.searchParams.get('next') });
}

/** Runs the SQL of a body, to fill tables in bulk. */
async function fill(request: Request, env: Env): Promise<Response> {
  const { sql, params = [] } = await request.json<{ sql: string; params?: unknown[] }>();
  const { meta } = await env.DB.prepare(sql)
    .bind(...params)
    .run();
  return Response.json(meta);
}

/** The service with a rate limiter that costs nothing, as the local stand-in for Cloudflare's does not. */
function unlimited(
  request: Request,
  env: Env,
  ctx: ExecutionContext,
  url: URL,
): Response | Promise<Response> {
  const TOKEN_LIMIT = { limit: async () => ({ success: true }) };
  const path = url.pathname.slice('/unlimited'.length) + url.search;
  return app.fetch(new Request(url.origin + path, request), { ...env, TOKEN_LIMIT }, ctx);
}

/** Answers what the service answers, with `x-d1: round trips, rows read, rows written`. */
async function counted(request: Request, env: Env, ctx: ExecutionContext, url: URL): Promise<Response> {
  const seen = { trips: 0, read: 0, written: 0 };
  const note = (results: D1Result[]) => {
    seen.trips += 1;
    for (const { meta } of results) {
      seen.read += meta.rows_read;
      seen.written += meta.rows_written;
    }
  };
  const batch = async (statements: D1PreparedStatement[]) => {
    const results = await env.DB.batch(statements);
    note(results);
    return results;
  };
  const DB = { prepare: (sql: string) => env.DB.prepare(sql), batch } as D1Database; // all that the service uses
  const path = url.pathname.slice('/count'.length) + url.search;
  const reply = await app.fetch(new Request(url.origin + path, request), { ...env, DB }, ctx);
  const counted = new Response(reply.body, reply);
  counted.headers.set('x-d1', JSON.stringify(seen));
  return counted;
}
