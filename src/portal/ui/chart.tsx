import type { Child } from 'hono/jsx';
import { compact, percent } from './format.ts';

/** A part of each column: its name and its colour by class. */
export type Series = {
  name: string;
  look: 'fill-1' | 'fill-2' | 'fill-3' | 'fill-4' | 'fill-5' | 'fill-main' | 'fill-bad';
};

/** A column: its name ("14:00", "Nov 18"), and its stacked values in the order of the series. */
export type Column = { name: string; values: number[]; before?: number | undefined };

/** A line of a chart: its name, its class, and its value at each point; null where there is none. */
export type Line = { name: string; look: 'trace-main' | 'trace-soft'; values: (number | null)[] };

const riskSeries: Series[] = ([1, 2, 3, 4, 5] as const).map((risk) => ({
  name: `Risk ${risk}`,
  look: `fill-${risk}`,
}));

const height = 200;
const top = 8;
const bottom = 24;
const plot = height - top - bottom;

/** Stacked columns, before pale ones of an earlier time if given. `summary` describes the chart in words. */
export const Columns = (props: { id: string; summary: string; series: Series[]; columns: Column[] }) => {
  const { id, summary, series, columns } = props;
  const axis = axisOf(columns.map(({ values, before = 0 }) => Math.max(before, sum(values))));
  return (
    <Chart {...{ id, summary, axis }} head={series.map(({ name }) => name)} columns={columns}>
      {columns.map(({ name, values, before }, i) => (
        <g class="bar">
          <title>
            {`${name}: ${series.map((one, at) => `${values[at] ?? 0} ${one.name.toLowerCase()}`).join(', ')}`}
            {before !== undefined && `; ${before} before`}
          </title>
          <Part look="before" x={i + 0.02} width={0.96} from={axis.y(0)} to={axis.y(before ?? 0)} />
          {series.map(({ look }, at) => (
            <Part
              look={look}
              x={i + 0.15}
              width={0.7}
              from={axis.y(sum(values.slice(0, at)))}
              to={axis.y(sum(values.slice(0, at + 1)))}
            />
          ))}
          {before ? <path class="before-top" d={`M${i + 0.02} ${axis.y(before)}h0.96`} /> : null}
        </g>
      ))}
    </Chart>
  );
};

/** Safety events per day, stacked by risk, with the total of each risk and `notes`. */
export const RiskChart = (props: {
  id: string;
  summary: string;
  columns: Column[];
  notes?: string[];
  before?: string;
}) => {
  const { notes = [], before, columns } = props;
  const entries = riskSeries.map(({ name, look }, i) => {
    const total = sum(columns.map(({ values }) => values[i] ?? 0)).toLocaleString('en');
    return { name, look, total, note: notes[i] };
  });
  return (
    <>
      <div class="mb-3">
        <Legend entries={entries.reverse()} before={before} />
      </div>
      <Columns id={props.id} summary={props.summary} series={riskSeries} columns={columns} />
    </>
  );
};

const Part = (props: { look: string; x: number; width: number; from: number; to: number }) => {
  const { look, x, width, from, to } = props;
  return from > to ? <rect class={look} x={x} width={width} y={to} height={round(from - to)} /> : null;
};

/** Lines over the same points in time, with a title per point. `summary` describes the chart in words. */
export const Lines = (props: {
  id: string;
  summary: string;
  unit: string;
  points: string[];
  lines: Line[];
}) => {
  const { id, summary, unit, points, lines } = props;
  const axis = axisOf(lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return (
    <Chart
      {...{ id, summary, axis }}
      head={lines.map(({ name }) => `${name}, ${unit}`)}
      columns={points.map((name, i) => ({ name, values: lines.map(({ values }) => values[i] ?? null) }))}
    >
      {lines.map(({ look, values }) => (
        <>
          <path class={`trace ${look}`} d={pathOf(values, axis)} />
          <path class={`trace ${look} dots`} d={dotsOf(values, axis)} />
        </>
      ))}
      {points.map((name, i) => (
        <rect class="hit" x={i} width="1" y={top} height={plot}>
          <title>{pointTitle(name, lines, i, unit)}</title>
        </rect>
      ))}
    </Chart>
  );
};

/** A line through the values, with gaps where there are none. */
const pathOf = (values: Line['values'], axis: Axis): string =>
  values
    .map((value, i) =>
      value === null ? '' : `${isAt(values, i - 1) ? 'L' : 'M'}${i + 0.5} ${axis.y(value)}`,
    )
    .join('');

/** Lines without length for isolated values: their round ends are dots. */
const dotsOf = (values: Line['values'], axis: Axis): string =>
  values
    .map((value, i) =>
      value === null || isAt(values, i - 1) || isAt(values, i + 1) ? '' : `M${i + 0.5} ${axis.y(value)}h0`,
    )
    .join('');

const isAt = (values: Line['values'], i: number): boolean => typeof values[i] === 'number';

function pointTitle(name: string, lines: Line[], i: number, unit: string): string {
  const values = lines.flatMap((line) => {
    const value = line.values[i];
    return typeof value === 'number'
      ? [`${line.name.toLowerCase()} ${value.toLocaleString('en')} ${unit}`]
      : [];
  });
  return `${name}: ${values.join(', ') || 'nothing'}`;
}

/** An axis from 0 to a round number not below the highest value, with its rules. */
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

/** A step of 1, 2 or 5 times a power of ten, three or four of which reach `highest`. */
function niceStep(highest: number): number {
  const rough = highest / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  return Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
}

/** The common parts of charts: an axis, names, and the numbers as a table. A column is 1 wide. */
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
        <svg
          width="100%"
          height={height}
          viewBox={`0 0 ${columns.length} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {children}
        </svg>
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

/** The columns whose names fit under a chart: about five, evenly spaced, including the last. */
function labelled(last: number): number[] {
  const every = Math.max(1, Math.floor((last + 1) / 4));
  return Array.from({ length: last + 1 }, (_, i) => i).filter((i) => (last - i) % every === 0);
}

/** The meaning of a chart's colours and lines, with totals and notes; `before` names the pale columns. */
export const Legend = (props: {
  entries: { name: string; look: Series['look'] | Line['look']; total?: Child; note?: Child }[];
  before?: string | undefined;
}) => (
  <ul class="legend-row">
    {props.entries.map(({ name, look, total, note }) => (
      <li>
        {look.startsWith('trace') ? (
          <svg class="swatch swatch-line" aria-hidden="true">
            <line class={`trace ${look}`} x1="0" x2="20" y1="5" y2="5" />
          </svg>
        ) : (
          <svg class="swatch" aria-hidden="true">
            <rect class={look} width="10" height="10" rx="2" />
          </svg>
        )}
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

/** Small columns beside a number: successes, and below them failures. */
export const Spark = ({ columns }: { columns: { good: number; bad?: number }[] }) => {
  const highest = Math.max(1, ...columns.map(({ good, bad = 0 }) => good + bad));
  const y = (count: number) => round(24 - (count / highest) * 23);
  return (
    <svg class="spark" viewBox="0 0 96 24" preserveAspectRatio="none" aria-hidden="true">
      <line x1="0" x2="96" y1="24" y2="24" />
      {columns.map(({ good, bad = 0 }, i) => (
        <>
          <Part look="fill-bad" x={i * 4 + 0.5} width={3} from={24} to={y(bad)} />
          <Part look="fill-main" x={i * 4 + 0.5} width={3} from={y(bad)} to={y(bad + good)} />
        </>
      ))}
    </svg>
  );
};

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
const round = (value: number): number => Math.round(value * 100) / 100;
