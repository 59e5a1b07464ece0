import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

const installed = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The Chromium that npm brought on Linux, unpacked; elsewhere the one that is installed. */
export const browserPath = async (): Promise<string | undefined> =>
  process.platform === 'linux' ? chromium.executablePath() : installed.find((path) => existsSync(path));

/** A real Chromium without a window. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await browserPath();
  if (!executablePath) throw new Error('No Chrome is installed');
  return playwright.launch({
    executablePath,
    headless: true,
    args:
      process.platform === 'linux'
        ? ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-component-update']
        : [],
  });
}
