import { config } from '../config.ts';
import type { Near } from '../db/guard.ts';
import type { Context } from './context.ts';

/** How this request's lists are read, where there are replicas: near by, unless it asks for what is newest. */
export function nearOf(c: Context): { near?: Near } {
  if (!config(c.env).readReplicas) return {};
  const primary = /\bno-cache\b/i.test(c.req.header('cache-control') ?? '');
  return { near: { primary, behind: (work) => c.executionCtx.waitUntil(work) } };
}
