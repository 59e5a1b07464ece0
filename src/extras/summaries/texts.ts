import { levelNames } from '../../core/webhooks/notifications/types.ts';
import type { MailPart } from '../../people/mail/render.ts';
import { counted } from '../../texts/words.ts';
import { maxNamed, type Summary } from './read.ts';

type Content = Pick<Summary, 'day' | 'accidents' | 'connections' | 'risks' | 'drivers'>;

const riskNames = ['very low', 'low', 'medium', 'high', 'critical'];

/** The subject and paragraphs of a summary; `portal` is the address of the portal. */
export function summaryTexts(
  { day, accidents, connections, risks, drivers }: Content,
  { portal, zone }: { portal: string; zone: string },
): { subject: string; parts: MailPart[] } {
  const { count, newest } = accidents;
  const events = risks.reduce((sum, number) => sum + number, 0);
  const time = (at: number) =>
    new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: zone, month: 'short', day: 'numeric' },
      ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    }).format(at);
  const attention = counted(count, 'accident needs attention', 'accidents need attention', 100);
  const byRisk = risks
    .map((number, i) => `${number} ${riskNames[i]}`)
    .toReversed()
    .join(', ');
  const date = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: 'UTC', weekday: 'long', month: 'long', day: 'numeric' },
  }).format(Date.parse(day));
  return {
    subject: `${count === 0 ? 'No accident needs attention' : attention}, ${counted(events, 'safety event', 'safety events')} yesterday`,
    parts: [
      {
        name: 'Accidents',
        text: count === 0 ? 'None needs attention.' : `${attention}.`,
        link: { url: `${portal}/accidents?state=open`, label: 'Open the list' },
      },
      ...newest.map(({ id, vehicle, at, level }) => ({
        name: vehicle ?? 'Unknown vehicle',
        text: `Level ${level}, ${levelNames[level - 1]?.toLowerCase()}, ${time(at)}.`,
        link: { url: `${portal}/accidents/${id}`, label: 'Open the accident' },
      })),
      {
        name: `Safety events on ${date}`,
        text: events === 0 ? 'None.' : `${events.toLocaleString('en')}: ${byRisk}.`,
        link: { url: `${portal}/events?from=${day}&to=${day}`, label: 'Open the list' },
      },
      ...drivers.map(({ id, name, sourceId, risk4, risk5 }) => ({
        name: `${name} (${sourceId})`,
        text: `${risk5} of risk 5, ${risk4} of risk 4.`,
        link: { url: `${portal}/drivers/${id}`, label: 'Open the driver' },
      })),
      ...connections.slice(0, maxNamed).map(({ id, name, status }) => ({
        name,
        text: status === 2 ? 'Data is late.' : 'No data arrives.',
        link: { url: `${portal}/connections/${id}`, label: 'Open the connection' },
      })),
      ...(connections.length > maxNamed
        ? [
            {
              name: 'More connections',
              text: 'Others send no data, or send it late.',
              link: { url: `${portal}/connections`, label: 'Open the list' },
            },
          ]
        : []),
      ...(connections.length === 0
        ? [{ name: 'Connections', text: 'All of them send data.' }]
        : []),
    ],
  };
}
