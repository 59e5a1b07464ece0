// What tests in Node are written with.
export * from '#src/cli/local/receiver.ts';
export * from '#src/cli/operate/client.ts';
export * from '#src/cli/project/paths.ts';
export * from '#src/core/platform/durations.ts';
export * from '#test/support/records.ts';
export * from './child.ts';
export * from './fake-service.ts';
export * from './folder.ts';
export * from './journey.ts';
export * from './provider.ts';
