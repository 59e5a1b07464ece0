import { setUnits, type Units } from '../../core/accounts/accounts.ts';
import { dayMs, hourMs } from '../../core/platform/durations.ts';
import { by, type Context } from '../../core/platform/http/context.ts';
import { setPreferences } from '../../people/people.ts';
import { sessionMs } from '../../people/sessions.ts';
import { added } from '../../ui/added.ts';
import { aRole, PostButton } from '../../ui/buttons.tsx';
import { choice, FormPanel, handles } from '../../ui/forms/form-fields.tsx';
import { type Offered, offered } from '../../ui/forms/forms.tsx';
import { browserZoneOf, page } from '../../ui/layout.tsx';
import { Facts, Panel } from '../../ui/parts.tsx';
import { done } from '../../ui/submit.ts';
import { zoneName } from '../../ui/time.tsx';

const path = '/portal/settings/account';
const unitsPath = `${path}/units`;

/** Settings, Account: the account, and the reader's own settings. */
export async function show(c: Context) {
  const { user, account, units, look } = c.get('session');
  const panels = await Promise.all(added(c, 'account').map((panel) => panel(c)));
  const stays = [`${sessionMs / dayMs} days`, ...added(c, 'signIn').map((one) => one.stays)];
  return page(
    c,
    { title: 'Account' },
    <>
      <Panel title="Account" body>
        <Facts
          facts={[
            ['Name', account],
            ['Account ID', <code>{user.accountId}</code>],
            ['You', `${user.email}, ${aRole(user.role)}`],
          ]}
        />
      </Panel>
      <FormPanel
        title="Time zone"
        to={path}
        send="Save"
        line={inOneLine}
        hint="This applies only to you, and to your CSV files. The API uses UTC."
        fields={zoneFields(browserZoneOf(c), [user.timeZone])}
        stored={user}
      />
      <FormPanel
        title="Units"
        id="units-of-account"
        to={unitsPath}
        send="Save units"
        weight="plain"
        line={inOneLine}
        fields={unitFields}
        stored={{ units }}
      />
      {panels}
      {!look && (
        <Panel title="Your sessions" body="grid gap-3 justify-items-start">
          <p>
            You stay signed in for {stays.join(', ')}. If you have lost a device, or used one that
            is not yours, end all of your sessions. This one ends too.
          </p>
          <PostButton to="/portal/sign-out-everywhere" name="Sign out everywhere" icon="log-out" />
        </Panel>
      )}
    </>,
  );
}

const inOneLine = 'sm:grid-cols-[minmax(0,24rem)_auto] sm:justify-start';

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** The zones with their offsets now; the `first` ones are the reader's own. */
function zoneFields(browserZone = '', first: (string | null)[] = []) {
  const own = zones.filter((zone) => zone === browserZone || first.includes(zone));
  const ordered = [...new Set([...own, ...zones])];
  const withOffsets = ordered.map((zone): Offered => [zone, `${zone} (${offsetOf(zone)})`]);
  return {
    timeZone: choice('Show times in', [
      ['', `Your browser’s (${browserZone}${browserZone && `, ${offsetOf(browserZone)}`})`],
      ...withOffsets,
    ]),
  };
}

/** "UTC+5:45", as it is now. A formatter takes long to make, so an hour's offsets are kept. */
function offsetOf(zone: string): string {
  const hour = Math.floor(Date.now() / hourMs);
  if (offsets.hour !== hour) offsets = { hour, known: new Map() };
  const known = offsets.known.get(zone);
  if (known) return known;
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    timeZoneName: 'shortOffset',
  }).formatToParts(Date.now());
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const offset = name.replace('GMT', 'UTC');
  offsets.known.set(zone, offset);
  return offset;
}

let offsets = { hour: 0, known: new Map<string, string>() };

const unitFields = {
  units: choice<Units>('Show speeds and distances to everyone in', [
    ['metric', 'Kilometers'],
    ['imperial', 'Miles'],
  ]),
};

export const save = handles(
  { timeZone: choice('Show times in', [['', ''], ...offered(zones)]) },
  show,
  async (c, { timeZone }) => {
    await setPreferences(...by(c), c.get('session').user.id, { timeZone: timeZone || null });
    return done(c, path, `Times are now in ${zoneName(timeZone || browserZoneOf(c))}.`);
  },
);

export const saveUnits = handles(unitFields, show, async (c, { units }) => {
  await setUnits(...by(c), units);
  return done(
    c,
    path,
    `Speeds and distances are now in ${units === 'metric' ? 'kilometers' : 'miles'}.`,
  );
});
