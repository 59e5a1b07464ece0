import type { Context } from './context.ts';

/** Sends a browser on to `path` with a GET, also after a POST, so that reloading does not send a form twice. */
export const seeOther = (c: Context, path: string): Response => c.redirect(path, 303);
