import type { Child } from 'hono/jsx';
import type { FieldError } from '../errors.ts';
import type { Context } from '../http/context.ts';

/** The pages of the main menu. */
const menu = [
  ['/portal', 'Connections'],
  ['/portal/events', 'Safety events'],
  ['/portal/webhooks', 'Webhooks'],
  ['/portal/settings/tokens', 'API Tokens'],
  ['/portal/settings/people', 'People'],
] as const;

/** Answers a whole page. Who is not signed in gets it without the menu. */
export function page(
  c: Context,
  title: string,
  content: Child,
  status: 200 | 400 | 403 | 404 | 429 | 500 = 200,
) {
  const session = c.get('session');
  const path = new URL(c.req.url).pathname;
  const current = menu.filter(
    ([href]) => path === href || (href !== '/portal' && path.startsWith(`${href}/`)),
  );
  return c.html(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title} · Fleet Data Service</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/portal/pico.min.css" />
        <link rel="stylesheet" href="/portal/portal.css" />
        <script src="/portal/portal.js" defer></script>
      </head>
      <body>
        <header class="container">
          <nav aria-label="Main">
            <ul>
              <li>
                <strong>{session?.account ?? 'Fleet Data Service'}</strong>
              </li>
            </ul>
            {session && (
              <ul>
                {menu.map(([href, name]) => (
                  <li>
                    <a href={href} aria-current={href === current[0]?.[0] ? 'page' : undefined}>
                      {name}
                    </a>
                  </li>
                ))}
              </ul>
            )}
          </nav>
        </header>
        <main class="container">
          <h1>{title}</h1>
          {content}
        </main>
        {session && (
          <footer class="container">
            <div class="actions">
              <small>Signed in as {session.user.email}</small>
              <Post to="/portal/sign-out" name="Sign out" quiet />
              <Post to="/portal/sign-out-everywhere" name="Sign out everywhere" quiet />
              <a href="/docs">API documentation</a>
            </div>
          </footer>
        )}
      </body>
    </html>,
    status,
  );
}

/** A button that does something: a form of its own, for a link must not change anything. */
export const Post = ({
  to,
  name,
  quiet = false,
  label,
}: {
  to: string;
  name: string;
  quiet?: boolean;
  label?: string;
}) => (
  <form method="post" action={to}>
    <button type="submit" class={quiet ? 'outline secondary' : undefined} aria-label={label}>
      {name}
    </button>
  </form>
);

/** The question before something that cannot be taken back, and the way out. */
export const Confirm = (props: {
  to: string;
  does: string;
  back: string;
  keeps: string;
  children: Child;
}) => (
  <>
    <p>{props.children}</p>
    <div class="actions">
      <Post to={props.to} name={props.does} />
      <a href={props.back}>{props.keeps}</a>
    </div>
  </>
);

/** A labelled input with what is wrong with it. */
export const Field = (props: {
  name: string;
  label: string;
  type?: string;
  value?: string;
  required?: boolean;
  autocomplete?: string;
  hint?: string;
  errors?: FieldError[];
}) => {
  const { name, label, type = 'text', value = '', required = false, autocomplete, hint, errors = [] } = props;
  const problem = errors.find(({ field }) => field === name || field.startsWith(`${name}.`));
  return (
    <label>
      {label}
      <input
        name={name}
        type={type}
        value={value}
        required={required}
        autocomplete={autocomplete}
        aria-invalid={problem ? 'true' : undefined}
        aria-describedby={problem || hint ? `${name}-note` : undefined}
      />
      {(problem || hint) && <small id={`${name}-note`}>{problem ? problem.message : hint}</small>}
    </label>
  );
};

/** Something that went wrong, said first and read out. */
export const Problem = ({ message }: { message: string | undefined }) =>
  message ? (
    <p class="notice bad" role="alert">
      {message}
    </p>
  ) : null;

/** A table that scrolls by itself on a narrow screen. */
export const Table = ({ caption, head, children }: { caption: string; head: string[]; children: Child }) => (
  <section class="table" aria-label={caption} tabindex={0}>
    <table class="striped">
      <thead>
        <tr>{head.map((name) => (name ? <th scope="col">{name}</th> : <td />))}</tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);

/** A point in time, for people, in UTC. */
export const Time = ({ at }: { at: number | string | null }) => {
  if (at === null) return <>–</>;
  const iso = new Date(at).toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`}</time>;
};

const looks = { delivered: 'good', failed: 'bad', pending: 'wait', cancelled: '' };

/** A delivery's status. */
export const Status = ({ status }: { status: keyof typeof looks }) => (
  <span class={`tag ${looks[status]}`}>{status}</span>
);

/** A risk from 1 to 5; 4 and 5 stand out. */
export const Risk = ({ risk }: { risk: number }) => (
  <span class={`tag ${risk >= 4 ? 'bad' : ''}`}>
    {risk >= 4 ? <strong>risk {risk}</strong> : `risk ${risk}`}
  </span>
);
