import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import * as v from 'valibot';
import { operatorIn } from '../core/accounts/accounts.ts';
import { config } from '../core/platform/config.ts';
import type { Slice } from '../core/platform/db/cursor.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import { invalid, Refusal } from '../core/platform/errors.ts';
import { parse, parseQuery, singleValues } from '../core/platform/fields.ts';
import { readJson, readNothing } from '../core/platform/http/body.ts';
import { type App, type Context, ok } from '../core/platform/http/context.ts';
import { limitByAddress } from '../core/platform/http/limits.ts';
import {
  cursorFor,
  requestedSlice,
  SliceParameters,
} from '../core/platform/http/requested-slice.ts';
import type { Extra } from '../extras/extra.ts';
import type { Operation } from '../extras/operation.ts';
import { type Owner, operatorInOwner, owners } from '../extras/owner-of.ts';
import { declared } from '../extras.ts';
import { operations } from './api/operations.ts';
import { allExtras } from './extras.ts';
import { handlers } from './handlers.ts';
import { checkHealth, problemOf, warningOf } from './health/service.ts';
import { metricsText } from './metrics.ts';

/** Authenticates by OPERATOR_KEY as a bearer. @throws Refusal: unauthenticated, rate limited */
const authenticateOperator = createMiddleware<App>(async (c, next) => {
  const key = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
  if (!(await isSameSecret(key, config(c.env).operatorKey))) {
    await limitByAddress(c, 'OPERATOR_LIMIT');
    throw new Refusal({ kind: 'unauthenticated', scheme: 'Bearer' });
  }
  await next();
});

/** Compares digests in constant time, whatever their length. */
async function isSameSecret(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(...(await Promise.all([digest(a), digest(b)])));
}

/** The API of the operator's tool: each operation of `api/` with the handler of its name. */
export const operatorRoutes = new Hono<App>().use(authenticateOperator);

const all: NonNullable<Extra['handlers']> = Object.assign(
  {},
  handlers,
  ...declared('handlers', allExtras),
);

for (const [name, operation] of Object.entries<Operation>(operations)) {
  const [method = '', path = ''] = operation.call.split(' ');
  const { [name]: handler } = all;
  if (!handler) throw new Error(`${name} has no handler`);
  operatorRoutes.on(method, path, (c) => respond(c, operation, handler));
}

operatorRoutes.get('/metrics', async (c) => {
  c.header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
  return c.body(await metricsText(c.env));
});

for (const routes of declared('operatorRoutes', allExtras)) operatorRoutes.route('/', routes);

/** The sweep runs each minute: nothing improves sooner. */
const retryAfter = 60;

/** Whether the service works, for monitors. Reads D1; limited by address. */
export const healthRoutes = new Hono<App>().get('/health', async (c) => {
  await limitByAddress(c, 'HEALTH_LIMIT');
  const data = await checkHealth(c.env);
  const message = problemOf(data);
  if (message) throw new Refusal({ kind: 'unhealthy', message, retryAfter, data });
  return ok(c, warningOf(data) ?? 'Healthy', data);
});

const maxBodyBytes = 64 * 1024;

async function respond(
  c: Context,
  operation: Operation,
  handler: (asked: never) => Promise<unknown>,
) {
  const isRead = operation.call.startsWith('GET');
  const body = operation.body ? parse(operation.body, await readJson(c, maxBodyBytes)) : undefined;
  if (!operation.body && !isRead) await readNothing(c);
  const slice = operation.part === 'slice' ? requestedSlice(c) : undefined;
  const query = isRead
    ? parseQuery(
        operation.query ?? (slice ? SliceParameters : Nothing),
        singleValues(c.req.queries()),
      )
    : undefined;
  const id = (c.req.param('id') ?? '').toLowerCase();
  const userId = c.req.param('userId')?.toLowerCase();
  const caller = await callerIn(c.env, operation.call, id);
  if (caller) c.set('caller', caller); // for the log
  const asked = { env: c.env, id, userId, caller, body, query, slice };
  const found = await handler(asked as never); // has what the operation declares, and more
  if (found === undefined) throw invalid(`Unknown ${ownerOf(operation.call)?.name ?? 'delivery'}`);
  if (found instanceof Response) return found;
  const { items, next } = operation.part ? (found as Part) : { items: found };
  return ok(c, 'OK', v.parse(operation.reply, items), next && cursorFor(c, next));
}

const Nothing = v.object({});

type Part = { items: unknown[]; next?: Slice<unknown>['next'] };

const listNameIn = (call: string): string => call.split('/')[1] ?? '';

const ownersByList = new Map<string, Owner>(
  [owners, ...declared('owners')].flatMap((some) => Object.entries(some)),
);

const ownerOf = (call: string): Owner | undefined => ownersByList.get(listNameIn(call));

/** An operator in the account of what the path names. @throws Refusal: invalid */
async function callerIn(env: Env, call: string, id: string): Promise<Caller | undefined> {
  if (!id) return undefined;
  if (listNameIn(call) === 'accounts') return operatorIn(id);
  const owner = ownerOf(call);
  return owner && operatorInOwner(env, owner, id);
}
