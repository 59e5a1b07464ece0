import { accidents } from '../../fleet/lists/accidents.ts';
import { vinOf } from '../../fleet/lists/vin.ts';
import { accidentsWithVehicles } from '../../fleet/named-lists.ts';
import { matchFleet } from '../../fleet/search.ts';
import type { Context } from '../../platform/http/context.ts';
import { levelNames } from '../../webhooks/notifications/types.ts';
import { type Accident, accidentColumns, levelOptions } from '../ui/accidents.tsx';
import {
  addressOf,
  allTypedIn,
  browse,
  DayFields,
  FleetFields,
  type Search,
  setAmong,
} from '../ui/browse.tsx';
import { browsedFile } from '../ui/browsed-file.ts';
import { rangeOfDays } from '../ui/days.ts';
import { Select } from '../ui/forms.tsx';
import { timeZoneOf } from '../ui/layout.tsx';
import { Empty, Segment } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';

const path = '/portal/accidents';

/** The states, each with its accidents. */
const states: { [state: string]: { name: string; means: string; query: Record<string, string[]> } } = {
  all: { name: 'All', means: 'All accidents, newest first.', query: {} },
  open: {
    name: 'Open',
    means: 'Open: detected or verified, without a report yet, not a false alarm, and not closed.',
    query: { maxLevel: ['2'], dismissed: ['false'], closed: ['false'] },
  },
  report: {
    name: 'Report ready',
    means: 'Report ready: level 3 has been reached.',
    query: { minLevel: ['3'], dismissed: ['false'], closed: ['false'] },
  },
  false: {
    name: 'False alarm',
    means: 'False alarm: the provider has dismissed the accident.',
    query: { dismissed: ['true'], closed: ['false'] },
  },
  closed: {
    name: 'Closed',
    means: 'Closed: somebody in your account has closed the accident.',
    query: { closed: ['true'] },
  },
};

async function requested(c: Context): Promise<Search> {
  const typed = allTypedIn(c, ['state', 'level', 'from', 'to', 'vehicle', 'driver']);
  const state = Object.hasOwn(states, typed.state) && typed.state !== 'all' ? typed.state : '';
  const level = /^[123]$/.test(typed.level) ? typed.level : '';
  const asked = { ...typed, state, level };
  const { vehicle, driver } = asked;
  const { problems, range } = rangeOfDays(timeZoneOf(c), asked.from, asked.to);
  const matched = await matchFleet(c.env, c.get('caller'), { vehicle, driver });
  const { minLevel = ['1'], maxLevel = ['3'], ...others } = states[state || 'all']?.query ?? {};
  const query = {
    ...others,
    minLevel: [String(Math.max(Number(minLevel[0]), Number(level || 1)))],
    maxLevel: [String(Math.min(Number(maxLevel[0]), Number(level || 3)))],
    ...(vehicle && {
      vehicles: [vinOf(vehicle) || vehicle, ...(matched.vehicles ?? []).map(({ id }) => id)],
    }),
    ...(driver && { driver: [matched.drivers?.[0]?.id ?? driver] }),
    ...range,
  };
  const request = { connectionId: undefined, descending: true, query };
  return { asked, kept: setAmong(asked), matched, problems, request };
}

const listed = {
  path,
  list: accidentsWithVehicles,
  words: ['accident', 'accidents'] as [string, string],
  file: {
    name: 'accidents',
    columns: { ...accidents.itemColumns, notificationLevel: { holds: 'text', nullable: false } as const },
    inWords: ({ notificationLevel, levels }: Accident, time: (at: string) => string) => ({
      notificationLevel: inWords(notificationLevel),
      levels: levels.map((one) => `${inWords(one.notificationLevel)} ${time(one.receivedAt)}`),
    }),
  },
};

/** `2 Verified` */
const inWords = (level: number): string => `${level} ${levelNames[level - 1]}`;

export async function list(c: Context) {
  const search = await requested(c);
  const { state: shown = 'all', ...filters } = search.kept;
  return browse(c, listed, search, {
    title: 'Accidents',
    lead: states[shown]?.means,
    views: (
      <Segment
        label="State"
        choices={Object.entries(states).map(([state, { name }]) => [state, name] as const)}
        current={shown}
        to={(state) => addressOf(path, { ...(state !== 'all' && { state }), ...filters })}
      />
    ),
    fields: (
      <>
        {shown !== 'all' && <input type="hidden" name="state" value={shown} />}
        <DayFields />
        <Select name="level" label="Level" options={[['', 'Any'], ...levelOptions]} />
        <FleetFields vehicleBy="Name, plate or VIN" />
      </>
    ),
    table: (items) => <Table caption="Accidents" columns={accidentColumns} items={items} />,
    empty: (
      <Empty icon="shield-check" title="No such accidents">
        {states[shown]?.means}
      </Empty>
    ),
  });
}

/** The same accidents as a CSV file. */
export const file = async (c: Context) => browsedFile(c, listed, await requested(c));
