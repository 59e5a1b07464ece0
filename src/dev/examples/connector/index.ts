import type { Ingest } from '../../../index.ts';
import { motiveRecords } from './motive.ts';
import { type Report, sendIn } from './report.ts';
import { samsaraRecords } from './samsara.ts';
import { motiveSigned, samsaraSigned } from './signatures.ts';

/** What this Worker is given: the service, a secret and an ingest key for each provider. */
export type ConnectorEnv = {
  INGEST: Service<typeof Ingest>;
  SAMSARA_SECRET: string;
  SAMSARA_INGEST_KEY: string;
  MOTIVE_SECRET: string;
  MOTIVE_INGEST_KEY: string;
};

/** An example of a connector: takes the webhooks of Samsara and Motive, and sends in what they report. */
export default {
  async fetch(request: Request, env: ConnectorEnv): Promise<Response> {
    const provider = providers[new URL(request.url).pathname];
    if (request.method !== 'POST' || !provider) return new Response('Not found', { status: 404 });
    const body = await request.arrayBuffer();
    if (!(await provider.signed(request.headers, body, env)))
      return new Response('Bad signature', { status: 401 });
    let report: Report | undefined;
    try {
      report = provider.records(JSON.parse(new TextDecoder().decode(body)));
    } catch {
      return new Response('Not the JSON that was expected', { status: 400 });
    }
    if (!report) return new Response('Nothing to tell');
    const reply = await sendIn(env.INGEST, provider.ingestKey(env), report);
    if (reply.status === 200) return Response.json(reply.data);
    // Whatever the service says, the provider sends this again later: nothing is lost meanwhile.
    return new Response(reply.message, { status: 503 });
  },
};

type Provider = {
  signed: (headers: Headers, body: ArrayBuffer, env: ConnectorEnv) => Promise<boolean>;
  records: (body: unknown) => Report | undefined;
  ingestKey: (env: ConnectorEnv) => string;
};

const providers: Record<string, Provider> = {
  '/samsara': {
    signed: (headers, body, env) => samsaraSigned(headers, body, env.SAMSARA_SECRET, Date.now()),
    records: samsaraRecords,
    ingestKey: (env) => env.SAMSARA_INGEST_KEY,
  },
  '/motive': {
    signed: (headers, body, env) => motiveSigned(headers, body, env.MOTIVE_SECRET),
    records: motiveRecords,
    ingestKey: (env) => env.MOTIVE_INGEST_KEY,
  },
};
