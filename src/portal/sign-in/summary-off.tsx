import { type Context, orNotFound } from '../../core/platform/http/context.ts';
import { isOffKey, turnSummaryOff } from '../../extras/summaries/summaries.ts';
import { PostForm, Submit } from '../../ui/buttons.tsx';
import { page } from '../../ui/layout.tsx';

/**
 * Turns off somebody's daily summary by the link in it, without a session. A program that opens links turns nothing off;
 * mail programs post to it (RFC 8058).
 */
export async function summaryOff(c: Context): Promise<Response> {
  const { person = '', key = '' } = c.req.query();
  orNotFound((await isOffKey(c.env, person, key)) || undefined);
  if (c.req.method === 'GET')
    return page(
      c,
      { title: 'Turn off the daily summary?', lead: 'Other emails are sent as before.' },
      <PostForm>
        <Submit name="Turn it off" />
      </PostForm>,
    );
  await turnSummaryOff(c.env, person);
  return page(
    c,
    {
      title: 'The daily summary is off',
      lead: 'To get it again, sign in and choose it under Settings → Notifications.',
    },
    <a class="btn" href="/portal">
      Sign in
    </a>,
  );
}
