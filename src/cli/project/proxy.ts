import { setGlobalProxyFromEnv } from 'node:http';

/** Has a program's calls use the proxy of the environment, as wrangler's do, but for services on this machine. */
export function useProxy(): void {
  const { NO_PROXY = '', no_proxy = NO_PROXY } = process.env;
  setGlobalProxyFromEnv({ ...process.env, no_proxy: `${no_proxy},localhost,127.0.0.1,[::1]` });
}
