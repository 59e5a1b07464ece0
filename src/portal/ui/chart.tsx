import type { Child } from 'hono/jsx';
import { compact, percent } from './format.ts';

/** A part of each column: its name, its colour by class, and its value in each column. */
export type Series = {
  name: string;
  look: 'fill-1' | 'fill-2' | 'fill-3' | 'fill-4' | 'fill-5' | 'fill-main' | 'fill-bad';
};

/** A column: its name ("14:00", "Nov 18"), and its values in the order of the series, which stand on each other. */
export type Column = { name: string; values: number[]; before?: number | undefined };

/** A line of a chart: its name, its look by class, and its value at each point; null where there is none. */
export type Line = { name: string; look: 'trace-main' | 'trace-soft'; values: (number | null)[] };

/** The series of safety events by their risk. */
export const riskSeries: Series[] = ([1, 2, 3, 4, 5] as const).map((risk) => ({
  name: `Risk ${risk}`,
  look: `fill-${risk}`,
}));

const height = 200;
const top = 8;
const bottom = 24;
const plot = height - top - bottom;

/**
 * Stacked columns with a title per column. A column may have the total of an earlier time behind it. `summary` says in
 * words what the chart shows.
 */
export const Columns = (props: { id: string; summary: string; series: Series[]; columns: Column[] }) => {
  const { id, summary, series, columns } = props;
  const axis = axisOf(columns.map(({ values, before = 0 }) => Math.max(before, sum(values))));
  const width = 1 / Math.max(1, columns.length);
  return (
    <Chart {...{ id, summary, axis }} head={series.map(({ name }) => name)} columns={columns}>
      {columns.map(({ name, values, before = 0 }, i) => (
        <g class="bar">
          <title>{titleOf(columns[i] ?? { name, values }, series)}</title>
          {before > 0 && (
            <rect
              class="before"
              x={percent(width * (i + 0.02), 2)}
              width={percent(width * 0.96, 2)}
              y={axis.y(before)}
              height={round(top + plot - axis.y(before))}
            />
          )}
          {series.map(({ look }, place) => (
            <Part
              look={look}
              x={width * (i + 0.15)}
              width={width * 0.7}
              from={axis.y(sum(values.slice(0, place)))}
              to={axis.y(sum(values.slice(0, place + 1)))}
            />
          ))}
          {before > 0 && (
            <line
              class="before-top"
              x1={percent(width * (i + 0.02), 2)}
              x2={percent(width * (i + 0.98), 2)}
              y1={axis.y(before)}
              y2={axis.y(before)}
            />
          )}
        </g>
      ))}
    </Chart>
  );
};

const Part = (props: { look: string; x: number; width: number; from: number; to: number }) =>
  props.from > props.to ? (
    <rect
      class={props.look}
      x={percent(props.x, 2)}
      width={percent(props.width, 2)}
      y={props.to}
      height={round(props.from - props.to)}
    />
  ) : null;

const titleOf = ({ name, values, before }: Column, series: Series[]): string =>
  `${name}: ${series.map((one, i) => `${values[i] ?? 0} ${one.name.toLowerCase()}`).join(', ')}${before === undefined ? '' : `; ${before} before`}`;

/** Lines over the same points in time, with a title per point. `summary` says in words what the chart shows. */
export const Lines = (props: {
  id: string;
  summary: string;
  unit: string;
  points: string[];
  lines: Line[];
}) => {
  const { id, summary, unit, points, lines } = props;
  const axis = axisOf(lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const width = 1 / Math.max(1, points.length);
  const parts = lines.flatMap(({ look, values }) => stretches(values).map((stretch) => ({ look, stretch })));
  return (
    <Chart
      {...{ id, summary, axis }}
      head={lines.map(({ name }) => `${name}, ${unit}`)}
      columns={points.map((name, i) => ({ name, values: lines.map(({ values }) => values[i] ?? null) }))}
    >
      <svg
        width="100%"
        height={height}
        viewBox={`0 0 ${points.length} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {parts.map(({ look, stretch }) => (
          <polyline
            class={`trace ${look}`}
            points={stretch.map(([i, value]) => `${i + 0.5},${axis.y(value)}`).join(' ')}
          />
        ))}
      </svg>
      {parts
        .filter(({ stretch }) => stretch.length === 1)
        .map(({ look, stretch: [[i, value] = [0, 0]] }) => (
          <circle class={`dot-${look}`} cx={percent(width * (i + 0.5), 2)} cy={axis.y(value)} r="3" />
        ))}
      {points.map((name, i) => (
        <rect class="hit" x={percent(width * i, 2)} width={percent(width, 2)} y={top} height={plot}>
          <title>{pointTitle(name, lines, i, unit)}</title>
        </rect>
      ))}
    </Chart>
  );
};

/** The stretches without gaps, as points. */
function stretches(values: (number | null)[]): [place: number, value: number][][] {
  const found: [number, number][][] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const last = found.at(-1);
    if (last?.at(-1)?.[0] === i - 1) last.push([i, value]);
    else found.push([[i, value]]);
  });
  return found;
}

function pointTitle(name: string, lines: Line[], i: number, unit: string): string {
  const values = lines.flatMap((line) => {
    const value = line.values[i];
    return typeof value === 'number'
      ? [`${line.name.toLowerCase()} ${value.toLocaleString('en')} ${unit}`]
      : [];
  });
  return `${name}: ${values.join(', ') || 'nothing'}`;
}

/** An axis from 0 to a round number that is not below the highest value: where values stand, and its rules. */
type Axis = { y: (value: number) => number; rules: number[] };

function axisOf(values: number[]): Axis {
  const most = Math.max(1, ...values);
  const step = niceStep(most);
  const count = Math.ceil(most / step);
  return {
    y: (value) => round(top + plot * (1 - value / (step * count))),
    rules: Array.from({ length: count + 1 }, (_, i) => i * step),
  };
}

/** A step of 1, 2 or 5 times a power of ten, of which three or four make up `highest`. */
function niceStep(highest: number): number {
  const rough = highest / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  return Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
}

/** What all charts have: an axis, rules, the names of columns or points, and below it the same numbers as a table. */
const Chart = (props: {
  id: string;
  summary: string;
  axis: Axis;
  head: string[];
  columns: { name: string; values: (number | null)[] }[];
  children: Child;
}) => {
  const { id, summary, axis, head, columns, children } = props;
  const last = columns.length - 1;
  return (
    <>
      <svg class="chart" width="100%" height={height} role="img" aria-labelledby={`${id}-title`}>
        <title id={`${id}-title`}>{summary}</title>
        {axis.rules.map((value) => (
          <>
            <line
              class={value === 0 ? 'axis' : 'rule'}
              x1="0"
              x2="100%"
              y1={axis.y(value)}
              y2={axis.y(value)}
            />
            <text class="y" x="-8" y={axis.y(value)}>
              {compact(value)}
            </text>
          </>
        ))}
        {children}
        {labelled(last).map((i) => (
          <text
            class={`x${i === 0 ? ' x-first' : i === last ? ' x-last' : ''}`}
            x={percent((i + (i === 0 ? 0 : i === last ? 1 : 0.5)) / (last + 1), 2)}
            y={height - 4}
          >
            {columns[i]?.name}
          </text>
        ))}
      </svg>
      <details class="as-table">
        <summary>Show as a table</summary>
        <table class="data">
          <caption class="sr-only">{summary}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {head.map((name) => (
                <th scope="col" class="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {columns.map(({ name, values }) => (
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
    </>
  );
};

/** The columns whose names fit under a chart: about five, evenly spaced, one of which is the last. */
function labelled(last: number): number[] {
  const every = Math.max(1, Math.floor((last + 1) / 4));
  return Array.from({ length: last + 1 }, (_, i) => i).filter((i) => (last - i) % every === 0);
}

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

/** What the lines of a chart mean. */
export const LineLegend = ({ lines }: { lines: Pick<Line, 'name' | 'look'>[] }) => (
  <ul class="legend-row">
    {lines.map(({ name, look }) => (
      <li>
        <svg class="swatch swatch-line" aria-hidden="true">
          <line class={`trace ${look}`} x1="0" x2="20" y1="5" y2="5" />
        </svg>
        {name}
      </li>
    ))}
  </ul>
);

/** Columns beside a number that says the same, such as one for each hour: what went well, and below it what did not. */
export const Spark = ({ columns }: { columns: { good: number; bad?: number }[] }) => {
  const highest = Math.max(1, ...columns.map(({ good, bad = 0 }) => good + bad));
  const heightOf = (count: number) => Math.round((count / highest) * 230) / 10;
  return (
    <svg class="spark" viewBox="0 0 96 24" preserveAspectRatio="none" aria-hidden="true">
      <line x1="0" x2="96" y1="24" y2="24" />
      {columns.map((column, i) => {
        const [good, bad] = [heightOf(column.good), heightOf(column.bad ?? 0)];
        return (
          <>
            {bad > 0 && <rect class="fill-bad" x={i * 4 + 0.5} width="3" y={24 - bad} height={bad} />}
            {good > 0 && (
              <rect class="fill-main" x={i * 4 + 0.5} width="3" y={24 - bad - good} height={good} />
            )}
          </>
        );
      })}
    </svg>
  );
};

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
const round = (value: number): number => Math.round(value * 100) / 100;
