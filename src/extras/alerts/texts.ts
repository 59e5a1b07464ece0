import { dayMs, minuteMs } from '../../core/platform/durations.ts';
import { circuitLongestMs, giveUpAfterMs } from '../../core/webhooks/deliveries/policy.ts';
import { levelNames } from '../../core/webhooks/notifications/types.ts';
import type { MailPart } from '../../people/mail/render.ts';
import { failureDescription, type Happened } from '../../texts/outcome.ts';
import { counted, minuteOf } from '../../texts/words.ts';
import type { NewsKind } from './pending.ts';

/** What a message names. Times are milliseconds since 1970. */
type WebhookItem = {
  id: string;
  name: string | null;
  url: string | null;
  failed: number | null;
  pausedSince: number | null;
  lastFailure: Happened | null;
};
type ConnectionItem = { id: string; name: string; subject: string; text: string };
type RecordItem = {
  id: string;
  level: number;
  at: number;
  vehicle: string;
  risk?: number;
  types?: string[];
};

/** The level of an item about an accident that was a false alarm. A safety event has level 0. */
export const falseAlarm = 4;

type Texts<Item> = {
  /** The subject of a message about one item, and of one about several. */
  subject: (item: Item) => string;
  subjects?: (total: number) => string;
  part: (item: Item, timeZone: string) => MailPart;
  /** What follows. */
  advice?: string;
  /** Where all of them are. */
  all: string;
};

/** The subject and the parts of a message about `total` things, of which `items` are the first. */
export function textsOf(
  { kind, items, total }: { kind: NewsKind; items: object[]; total: number },
  { portal, timeZone }: { portal: string; timeZone: string },
): { subject: string; parts: MailPart[] } {
  const { subject, subjects, part, advice, all } = texts[kind] as Texts<object>; // items are of their kind
  const parts = items.map((item) => part(item, timeZone));
  const [first] = items;
  const others = total - items.length;
  if (others > 0)
    parts.push({
      text: `And ${others.toLocaleString('en')} more:`,
      link: { url: all, label: 'Show all' },
    });
  if (advice) parts.push({ text: advice });
  const many = first
    ? `${subject(first)} and ${counted(total - 1, 'more', 'more')}`
    : `${total} more`;
  return {
    subject: total === 1 && first ? subject(first) : (subjects?.(total) ?? many),
    parts: parts.map((one) =>
      one.link ? { ...one, link: { ...one.link, url: portal + one.link.url } } : one,
    ),
  };
}

/** A webhook without a name is named by its host only, because paths and queries can hold secrets. */
const titleOf = ({ name, url }: WebhookItem): string => name ?? new URL(url ?? '').host;

const lately = ({ lastFailure }: WebhookItem): string =>
  lastFailure === null ? '' : ` Your receiver ${failureDescription(lastFailure)}.`;

const ofWebhooks = (
  does: string,
  story: (item: WebhookItem) => string,
  advice: string,
): Texts<WebhookItem> => ({
  subject: (item) => `Deliveries to ${titleOf(item)} ${does}`,
  subjects: (total) => `Deliveries to ${counted(total, 'webhook', 'webhooks')} ${does}`,
  part: (item) => ({
    name: titleOf(item),
    text: story(item),
    link: { url: `/webhooks/${item.id}`, label: 'Open the webhook' },
  }),
  advice,
  all: '/webhooks',
});

const replay = 'open the webhook and choose “Replay deliveries”.';

const texts: {
  [kind in NewsKind]: Texts<
    kind extends 'record' ? RecordItem : kind extends 'connection' ? ConnectionItem : WebhookItem
  >;
} = {
  paused: ofWebhooks(
    'are paused',
    (item) => `paused since ${minuteOf(item.pausedSince ?? 0)}.${lately(item)}`,
    'We have paused deliveries, because calls keep failing. Please check your receiver. ' +
      `Every ${circuitLongestMs / minuteMs} minutes or sooner we try one delivery. ` +
      'When it succeeds, everything that waited is delivered. ' +
      `A delivery that has waited for ${giveUpAfterMs / dayMs} days has failed.`,
  ),
  failed: ofWebhooks(
    'have failed',
    (item) =>
      `${counted(item.failed ?? 0, 'delivery', 'deliveries')} failed for good.${lately(item)}`,
    `We do not retry them. Once your receiver works, ${replay}`,
  ),
  working: ofWebhooks(
    'arrive again',
    () => 'works again.',
    `Pending deliveries are sent automatically. If deliveries have failed in the meantime, ${replay}`,
  ),
  connection: {
    subject: ({ name, subject }) => `${name} ${subject}`,
    part: ({ id, name, text }) => ({
      name,
      text,
      link: { url: `/connections/${id}`, label: 'Open the connection' },
    }),
    all: '/connections',
  },
  record: {
    subject: (item) => `${item.vehicle}: ${whatHappened(item)}`,
    part: (item, timeZone) => ({
      name: item.vehicle,
      text: `${whatHappened(item)}, ${minuteOf(item.at, timeZone)}.`,
      link: {
        url: `/${item.level === 0 ? 'events' : 'accidents'}/${item.id}?at=${item.at}`,
        label: item.level === 0 ? 'Open the safety event' : 'Open the accident',
      },
    }),
    all: '',
  },
};

/** "Accident, level 2, verified", "Collision, risk 5". */
function whatHappened({ level, risk, types = [] }: RecordItem): string {
  if (level === 0) return `${types.join(', ')}, risk ${risk}`;
  if (level === falseAlarm) return 'The accident was a false alarm';
  return `Accident, level ${level}, ${levelNames[level - 1]?.toLowerCase()}`;
}
