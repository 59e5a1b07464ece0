import { generateKeyPairSync } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Provider } from 'oidc-provider';
import type { Certificates } from '#src/cli/local/certificates.ts';
import { type Listening, listen } from '#src/cli/local/receiver.ts';
import { readText } from './folder.ts';

/** What a provider says of somebody who is signed in to it; null if it lets them in no more. */
type Person = { email?: string; email_verified?: boolean } | null;

export const client = { client_id: 'fleet-data', client_secret: 'a-secret-of-the-provider' };

/** An OpenID provider over HTTPS, whose browsers are always signed in, and the DNS that the shared stack asks. */
export async function startOpenId(certificates: Certificates, redirectUri: string) {
  const port = Number(process.env.OPENID_PORT);
  setDefaultCACertificates([...getCACertificates(), readText(certificates.caFile)]);
  const issuer = `https://localhost:${port}`;
  const own = {
    issuer,
    /** Whoever sits at the browser, and what is known of them. */
    subject: 'ann',
    people: {} as Record<string, Person>,
    /** The same in its ID tokens, which have nothing of people otherwise. */
    inIdTokens: {} as Record<string, Person>,
    records: {} as Record<string, string>,
    /** The only way in which it takes its client: in the header, or in the body. */
    takesClient: null as 'header' | 'body' | null,
    /** What the next responses have instead, by the path. */
    instead: {} as Record<string, object>,
    /** Signs with other keys from now on. */
    rotate() {
      handle = started().callback();
    },
    async start() {
      server = await listen(certificates, port, (request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '', issuer);
        const data = own.records[searchParams.get('name') ?? ''];
        const dns = { Status: 0, Answer: data ? [{ type: 16, data: `"${data}"` }] : [] };
        const body = pathname === '/dns-query' ? dns : own.instead[pathname];
        const way = request.headers.authorization?.startsWith('Basic ') ? 'header' : 'body';
        if (pathname === '/token' && own.takesClient && way !== own.takesClient) {
          response.writeHead(401, { 'content-type': 'application/json' });
          return response.end(JSON.stringify({ error: 'invalid_client' }));
        }
        if (!body) return handle(request, response);
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    },
    stop: () => server.stop(),
  };
  function started() {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = {
      ...privateKey.export({ format: 'jwk' }),
      kid: crypto.randomUUID(),
      alg: 'ES256',
      use: 'sig',
    };
    const provider = new Provider(issuer, {
      clients: [{ ...client, redirect_uris: [redirectUri], id_token_signed_response_alg: 'ES256' }],
      jwks: { keys: [key] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: false,
      findAccount: (_, accountId) => {
        const claims = own.people[accountId];
        if (!claims) return;
        const ofToken = own.inIdTokens[accountId];
        return {
          accountId,
          claims: (use) => ({ sub: accountId, ...(use === 'id_token' ? ofToken : claims) }),
        };
      },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      cookies: { keys: ['a key of the provider'] },
      async loadExistingGrant({ oidc }) {
        const grant = new provider.Grant({ clientId: client.client_id, accountId: own.subject });
        grant.addOIDCScope('openid email');
        await grant.save();
        oidc.entity('Grant', grant);
        return grant;
      },
    });
    provider.use(async (context, next) => {
      if (!context.path.startsWith('/interaction/')) return next();
      const login = { accountId: own.subject, remember: false };
      const result = own.people[own.subject] ? { login } : { error: 'access_denied' };
      context.respond = false;
      await provider.interactionFinished(context.req, context.res, result);
    });
    return provider;
  }
  let handle = started().callback();
  let server: Listening;
  await own.start();
  return own;
}

/** A browser without scripts, which keeps cookies, and does what `Refresh` says. */
export function openIdBrowser(baseUrl: string) {
  const jar = new Map<string, string>();
  async function ask(method: string, to: string, fields?: Record<string, string>) {
    const response = await fetch(new URL(to, baseUrl), {
      method,
      redirect: 'manual' as const,
      body: fields ? new URLSearchParams(fields) : null,
      headers: { origin: baseUrl, cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '' || /max-age=0/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    const refresh = /url=(.*)/.exec(response.headers.get('refresh') ?? '')?.[1];
    const next = response.headers.get('location') ?? refresh ?? null;
    const html = await response.text();
    const text = html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    return {
      status: response.status,
      to: next && new URL(next, response.url).href,
      html,
      text,
      response,
    };
  }
  return {
    jar,
    get: (to: string) => ask('GET', to),
    post: (to: string, fields: Record<string, string> = {}) => ask('POST', to, fields),
    /** Follows redirects from an address of the provider. Returns where it sends the browser back to. */
    async through(address: string): Promise<string> {
      for (let at = address; ; ) {
        const { to, status, text } = await ask('GET', at);
        if (!to) throw new Error(`the provider returned ${status}: ${text}`);
        if (to.startsWith(baseUrl)) return to;
        at = to;
      }
    },
  };
}
