import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import {
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  chromium as playwright,
} from 'playwright-core';
import { operatorOf } from '#src/cli/operate/client.ts';
import { sharedStack } from './journey.ts';

const installed = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The Chromium that npm brought on Linux, unpacked; elsewhere the one that is installed. */
export const browserPath = async (): Promise<string | undefined> =>
  process.platform === 'linux'
    ? chromium.executablePath()
    : installed.find((path) => existsSync(path));

/** A real Chromium without a window at the shared stack, for the tests of a file, and which other hosts it asks. */
export async function openBrowser(options?: BrowserContextOptions) {
  const stack = await sharedStack();
  const executablePath = await browserPath();
  if (!executablePath) throw new Error('No Chrome is installed');
  const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-component-update'];
  const args = process.platform === 'linux' ? flags : [];
  const browser = await playwright.launch({ executablePath, headless: true, args });
  afterAll(() => browser.close());
  const outside: string[] = [];
  const newContext = async (options?: BrowserContextOptions) => {
    const context = await browser.newContext(options);
    context.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(stack.baseUrl))
        outside.push(request.url());
    });
    return context;
  };
  return { stack, newContext, context: await newContext(options), outside };
}

/** The portal's first page, once somebody new of an account has signed in. */
export async function signIn(context: BrowserContext, accountId: string): Promise<Page> {
  const stack = await sharedStack();
  const operator = operatorOf(stack);
  const body = { email: `${crypto.randomUUID()}@example.com` };
  await operator.call('POST /accounts/:id/users', { id: accountId, body });
  const { url } = await operator.call('POST /sign-in-links', { body });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${stack.baseUrl}/portal`);
  return page;
}
