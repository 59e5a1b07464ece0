import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

const installed = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** A real Chromium without a window: the one that npm brought on Linux, elsewhere the one that is installed. */
export async function launchBrowser(): Promise<Browser> {
  const onLinux = process.platform === 'linux';
  const executablePath = onLinux
    ? await chromium.executablePath()
    : installed.find((path) => existsSync(path));
  if (!executablePath) throw new Error('No Chrome is installed');
  return playwright.launch({
    executablePath,
    headless: true,
    args: onLinux ? ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-component-update'] : [],
  });
}
