import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { router } from '../../src/router/index.ts';

const cell = {
  fetch: async () => Response.json({ message: 'Healthy' }, { headers: { 'X-Request-Id': 'r' } }),
};

it.each([
  ['/operator/accounts', {}, 400],
  ['/operator/accounts', { 'Fleet-Cell': 'uk' }, 400],
  ['/health', {}, 200],
])(
  'a router names its cells at %s %j, for the operator’s tool and deploys',
  async (path, headers, status) => {
    const request = new Request(`https://api.example.com${path}`, { headers });
    const bindings = { ...env, CELL_EU: cell, CELL_MAIN: cell };
    const reply = await router.fetch(request, bindings, createExecutionContext());
    expect([reply.status, reply.headers.get('Fleet-Cell')]).toEqual([status, 'main, eu']);
  },
);
