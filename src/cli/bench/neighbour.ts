import { setTimeout as wait } from 'node:timers/promises';
import { startReceiver } from '../local/receiver.ts';
import { request } from '../operate/client.ts';
import { newAccount, safetyEvent, vehicle } from './account.ts';
import type { BenchStack } from './harness.ts';

/** How long after the last event the others may arrive before they count as lost. */
const timeoutMs = 60_000;

/** Starts `work` so many times a second for some seconds, whether or not the last has ended, and waits for all of it. */
export async function paced(perSecond: number, seconds: number, work: () => Promise<unknown>): Promise<void> {
  const begun: Promise<unknown>[] = [];
  const start = performance.now();
  for (let next = start; next < start + seconds * 1000; next = start + (begun.length * 1000) / perSecond) {
    await wait(Math.max(0, next - performance.now()));
    begun.push(work());
  }
  await Promise.all(begun);
}

/**
 * Opens a well-behaved account. Returns how it lives for some seconds: the milliseconds of its lists and ingest calls,
 * and of deliveries since their ingest call, its refused calls, and the events that never arrived.
 */
export async function startNeighbour(stack: BenchStack) {
  const us = await newAccount(stack);
  /** When each event that has not arrived was sent, by its vehicle's name. */
  const awaited = new Map<string, number>();
  const nothing = { lists: [] as number[], ingest: [] as number[], deliveries: [] as number[], refused: 0 };
  let found = structuredClone(nothing);
  let events = 0;
  const receiver = await startReceiver(stack.certificates, 0, ({ body }) => {
    const name = String(body.data.vehicleName);
    const sent = awaited.get(name);
    if (sent !== undefined && awaited.delete(name)) found.deliveries.push(performance.now() - sent);
  });
  stack.closing.push(receiver);
  await us.webhooks([receiver.url]);

  /** Repeats a call until it is accepted, as every client should; a refusal makes it that much slower. */
  const timed = async (kind: 'lists' | 'ingest', call: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    for (const end = Date.now() + timeoutMs; Date.now() < end; await wait(1000))
      try {
        await call();
        return void found[kind].push(performance.now() - began);
      } catch {
        found.refused++;
      }
  };
  const headers = { 'x-api-key': us.token, 'connection-id': us.connection };
  const list = () => timed('lists', () => request(`${stack.baseUrl}/vehicles?limit=50`, { headers }));
  const ingest = () => {
    const name = `n${events++}`;
    awaited.set(name, performance.now());
    return timed('ingest', () => us.ingest([vehicle(name), safetyEvent(name)]));
  };
  const live = async (seconds: number) => {
    found = structuredClone(nothing);
    await Promise.all([paced(8, seconds, list), paced(4, seconds, ingest)]); // a token may make 10 calls a second
    for (const end = Date.now() + timeoutMs; awaited.size > 0 && Date.now() < end; ) await wait(20);
    return { ...found, lost: awaited.size };
  };
  await live(0.5); // warm
  return live;
}
