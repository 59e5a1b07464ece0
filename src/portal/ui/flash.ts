import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as v from 'valibot';
import { type Context, seeOther } from '../../platform/http/context.ts';
import type { Mood } from './states.tsx';

/** The outcome of what somebody did, shown on the page that follows. */
const Flash = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ path: v.string(), mood: v.picklist(['ok', 'warn', 'bad', 'quiet']), text: v.string() }),
);

const cookie = 'flash';
const options = { path: '/portal', httpOnly: true, sameSite: 'Lax' } as const;

/** Browsers drop cookies of more than 4 KiB. */
const longestText = 600;

/** Redirects to a page of the portal, which says `text` on top until somebody goes elsewhere. */
export function done(c: Context, to: string, text: string, mood: Mood = 'ok'): Response {
  const path = to.split('?')[0] ?? to;
  const flash: v.InferOutput<typeof Flash> = { path, mood, text: text.slice(0, longestText) };
  setCookie(c, cookie, JSON.stringify(flash), { ...options, maxAge: 300 });
  return seeOther(c, to);
}

/** What to say on this page, reloads included; it is gone on the next. */
export function takeFlash(c: Context): { mood: Mood; text: string } | undefined {
  const sent = getCookie(c, cookie);
  if (sent === undefined) return undefined;
  const flash = v.safeParse(Flash, sent);
  if (flash.success && flash.output.path === c.req.path) return flash.output;
  deleteCookie(c, cookie, options);
  return undefined;
}
