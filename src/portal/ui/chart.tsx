import type { Child } from 'hono/jsx';

/** A part of each column: its name, its colour by class, and its value in each column. */
export type Series = {
  name: string;
  look: 'fill-1' | 'fill-2' | 'fill-3' | 'fill-4' | 'fill-5' | 'fill-main' | 'fill-bad';
};

/** A column: its name ("14:00", "Nov 18"), and its values in the order of the series, which stand on each other. */
export type Column = { name: string; values: number[]; before?: number | undefined };

const height = 200;
const top = 8;
const bottom = 24;
const plot = height - top - bottom;

/**
 * Stacked columns with an axis, rules and a title per column; below it the same numbers as a table. A column may
 * have the total of an earlier time behind it. `summary` says in words what the chart shows.
 */
export const Columns = (props: {
  id: string;
  summary: string;
  series: Series[];
  columns: Column[];
  unit?: string;
}) => {
  const { id, summary, series, columns, unit = '' } = props;
  const totals = columns.map(({ values, before = 0 }) => Math.max(before, sum(values)));
  const step = niceStep(Math.max(1, ...totals));
  const highest = step * Math.max(1, Math.ceil(Math.max(...totals, 1) / step));
  const y = (value: number) => round(top + plot * (1 - value / highest));
  const width = 100 / Math.max(1, columns.length);
  return (
    <>
      <svg class="chart" width="100%" height={height} role="img" aria-labelledby={`${id}-title`}>
        <title id={`${id}-title`}>{summary}</title>
        {Array.from({ length: highest / step + 1 }, (_, i) => (
          <>
            <line class={i === 0 ? 'axis' : 'rule'} x1="0" x2="100%" y1={y(i * step)} y2={y(i * step)} />
            <text class="y" x="-8" y={y(i * step)}>
              {short(i * step)}
            </text>
          </>
        ))}
        {columns.map(({ name, values, before }, i) => (
          <g class="bar">
            <title>{titleOf(name, series, values, unit, before)}</title>
            {before !== undefined && before > 0 && (
              <rect
                class="before"
                x={percent(width * (i + 0.02))}
                width={percent(width * 0.96)}
                y={y(before)}
                height={round(top + plot - y(before))}
              />
            )}
            {series.map(({ look }, place) => (
              <Part
                look={look}
                x={width * (i + 0.15)}
                width={width * 0.7}
                from={y(sum(values.slice(0, place)))}
                to={y(sum(values.slice(0, place + 1)))}
              />
            ))}
            {before !== undefined && before > 0 && (
              <line
                class="before-top"
                x1={percent(width * (i + 0.02))}
                x2={percent(width * (i + 0.98))}
                y1={y(before)}
                y2={y(before)}
              />
            )}
          </g>
        ))}
        {labelled(columns).map((i) => (
          <text
            class={`x${i === 0 ? ' x-first' : i === columns.length - 1 ? ' x-last' : ''}`}
            x={percent(width * (i + (i === 0 ? 0 : i === columns.length - 1 ? 1 : 0.5)))}
            y={height - 4}
          >
            {columns[i]?.name}
          </text>
        ))}
      </svg>
      <NumbersTable caption={summary} head={series.map(({ name }) => name)} columns={columns} />
    </>
  );
};

const Part = (props: { look: string; x: number; width: number; from: number; to: number }) =>
  props.from > props.to ? (
    <rect
      class={props.look}
      x={percent(props.x)}
      width={percent(props.width)}
      y={props.to}
      height={round(props.from - props.to)}
    />
  ) : null;

/** What a chart shows, as numbers. */
export const NumbersTable = (props: {
  caption: string;
  head: string[];
  columns: { name: string; values: (number | null)[] }[];
}) => (
  <details class="as-table">
    <summary>Show as a table</summary>
    <table class="data">
      <caption class="sr-only">{props.caption}</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          {props.head.map((name) => (
            <th scope="col" class="num">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.columns.map(({ name, values }) => (
          <tr>
            <th scope="row">{name}</th>
            {values.map((value) => (
              <td class="num">{value?.toLocaleString('en') ?? '–'}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </details>
);

/**
 * What the colours of a chart mean, each with its total and, if given, a note such as its change. `before` names the time
 * that stands behind the columns.
 */
export const Legend = (props: {
  entries: { name: string; look: Series['look']; total?: Child; note?: Child }[];
  before?: string;
}) => (
  <ul class="legend-row">
    {props.entries.map(({ name, look, total, note }) => (
      <li>
        <svg class="swatch" aria-hidden="true">
          <rect class={look} width="10" height="10" rx="2" />
        </svg>
        {name} {total !== undefined && <b>{total}</b>} {note}
      </li>
    ))}
    {props.before && (
      <li>
        <svg class="swatch swatch-line" viewBox="0 0 20 10" aria-hidden="true">
          <rect class="before" width="20" height="10" />
          <line class="before-top" x2="20" y1="1" y2="1" />
        </svg>
        {props.before}
      </li>
    )}
  </ul>
);

/** The names that fit under a chart: about five, evenly spaced, of which the last column has one. */
export function labelled(columns: Column[]): number[] {
  const last = columns.length - 1;
  const every = Math.max(1, Math.floor(columns.length / 4));
  return columns.map((_, i) => i).filter((i) => (last - i) % every === 0);
}

/** A step of 1, 2 or 5 times a power of ten, of which three or four make up `highest`. */
export function niceStep(highest: number): number {
  const rough = highest / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  return Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
}

const titleOf = (name: string, series: Series[], values: number[], unit: string, before?: number): string =>
  `${name}: ${series.map((one, i) => `${values[i] ?? 0}${unit} ${one.name.toLowerCase()}`).join(', ')}${before === undefined ? '' : `; ${before} before`}`;

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
const round = (value: number): number => Math.round(value * 100) / 100;
const percent = (value: number): string => `${round(value)}%`;
export const short = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);
