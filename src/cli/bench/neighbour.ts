import { setTimeout as wait } from 'node:timers/promises';
import { startReceiver } from '../local/receiver.ts';
import type { Stack } from '../local/stack.ts';
import { request } from '../operate/client.ts';
import { newAccount, safetyEvent, vehicle } from './account.ts';

/** Milliseconds that each of a phase's calls took; for deliveries, from the ingest call to their arrival. */
export type Times = { list: number[]; ingest: number[]; delivery: number[] };

/** A well-behaved account: it reads lists, sends in events, and receives them. */
export type Neighbour = {
  /** Lives for some seconds. Returns its times, how many calls were refused, and how many events never arrived. */
  live: (seconds: number) => Promise<{ times: Times; refused: number; lost: number }>;
  stop: () => void;
};

/** Well below the limit of a token, 10 a second. */
const listsPerSecond = 8;
const eventsPerSecond = 4;

/** How long after the last event the others may arrive before they count as lost. */
const timeoutMs = 60_000;

/** Opens such an account on `stack`. */
export async function startNeighbour(stack: Stack): Promise<Neighbour> {
  const us = await newAccount(stack);
  /** When each event that has not arrived was sent, by the name of its vehicle. */
  const awaited = new Map<string, number>();
  let times: Times = { list: [], ingest: [], delivery: [] };
  const receiver = await startReceiver(stack.certificates, 0, ({ body }) => {
    const name = String(body.data.vehicleName);
    const sent = awaited.get(name);
    if (sent !== undefined && awaited.delete(name)) times.delivery.push(performance.now() - sent);
  });
  await us.webhooks([receiver.url], { notificationTypes: [2] });

  let events = 0;
  let refused = 0;
  /** Makes a call until it is taken, as every client should; a refusal makes it so much slower. */
  const insist = async (make: () => Promise<unknown>): Promise<void> => {
    for (const end = Date.now() + timeoutMs; Date.now() < end; await wait(1000))
      try {
        return void (await make());
      } catch {
        refused++;
      }
  };
  const list = async () => {
    const began = performance.now();
    const headers = { 'x-api-key': us.token, 'connection-id': us.connection };
    await insist(() => request(`${stack.baseUrl}/vehicles?limit=50`, { headers }));
    times.list.push(performance.now() - began);
  };
  const ingest = async () => {
    const name = `n${events++}`;
    const began = performance.now();
    awaited.set(name, began);
    await insist(() => us.ingest([vehicle(name), safetyEvent(name)]));
    times.ingest.push(performance.now() - began);
  };
  const live = async (seconds: number) => {
    times = { list: [], ingest: [], delivery: [] };
    refused = 0;
    const until = AbortSignal.timeout(seconds * 1000);
    await Promise.all([paced(listsPerSecond, until, list), paced(eventsPerSecond, until, ingest)]);
    for (const end = Date.now() + timeoutMs; awaited.size > 0 && Date.now() < end; ) await wait(20);
    return { times, refused, lost: awaited.size };
  };
  await live(1); // warm
  return { live, stop: receiver.stop };
}

/** Begins `work` so many times a second until `signal`, whether or not the last has ended, and waits for all of it. */
export async function paced(
  perSecond: number,
  signal: AbortSignal,
  work: () => Promise<unknown>,
): Promise<void> {
  const begun: Promise<unknown>[] = [];
  for (const start = performance.now(); !signal.aborted; ) {
    begun.push(work());
    const next = start + (begun.length * 1000) / perSecond;
    await wait(Math.max(0, next - performance.now()));
  }
  await Promise.all(begun);
}
