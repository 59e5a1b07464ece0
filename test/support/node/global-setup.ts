import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '#src/cli/local/dev.ts';
import { emptyState } from '#src/cli/local/migrate.ts';
import type { Stack } from '#src/cli/local/stack.ts';
import { browserPath } from './browser.ts';
import { temporaryFolder } from './folder.ts';
import { stackFolder } from './journey.ts';

/** Does once for all: migrates, unpacks the browser, and starts the stack that tests share. */
export default async function setUp() {
  const folders = temporaryFolder();
  process.env.TEST_FOLDER = folders;
  await emptyState();
  await browserPath();
  // Where `startOpenId` serves the DNS of its company.
  const openIdPort = await freePort();
  process.env.OPENID_PORT = String(openIdPort);
  const folder = stackFolder({
    isolates: 2, // so that whatever relies on the memory of one fails
    change: (toml) => ({
      ...toml,
      vars: { ...toml.vars, DNS_URL: `https://localhost:${openIdPort}/dns-query` },
    }),
  });
  let stack: Promise<Stack> | undefined;
  const server = createServer(async (_, response) => {
    stack ??= folder.start();
    const started = await stack.catch((error) => ({ error: `${error}` }));
    response.end(JSON.stringify(started));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // of a server that listens on TCP
  process.env.SHARED_STACK = `http://127.0.0.1:${port}`;
  return async () => {
    server.close();
    await (await stack)?.stop();
    folder.remove();
    rmSync(folders, { recursive: true, force: true });
  };
}
