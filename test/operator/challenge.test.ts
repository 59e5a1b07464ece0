import { describe, expect, it } from 'vitest';
import { clientDocument } from '../../src/docs/openapi/client.ts';
import { operatorDocument } from '../../src/docs/openapi/operator.ts';
import { call } from '../support/world.ts';

const realm = 'realm="Fleet Data Service"';

/** The examples of WWW-Authenticate in a document. */
const documented = (document: object) =>
  (document as { components: { headers: Record<string, { schema: { examples: string[] } }> } }).components
    .headers.WwwAuthenticate?.schema.examples;

describe('a 401 names the scheme that would be accepted', () => {
  it.each([
    ['/operator/accounts', `Bearer ${realm}`],
    ['/webhooks', `ApiKey ${realm}`],
  ])('%s: %s', async (path, challenge) => {
    const reply = await call('GET', path);
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, challenge]);
  });

  it('/ingest: ApiKey', async () => {
    const reply = await call('POST', '/ingest', { body: {} });
    expect(reply.headers.get('www-authenticate')).toBe(`ApiKey ${realm}`);
  });

  it('and so do the documents', () => {
    expect(documented(clientDocument())).toEqual([`ApiKey ${realm}`]);
    expect(documented(operatorDocument())).toEqual([`ApiKey ${realm}`, `Bearer ${realm}`]);
  });
});
