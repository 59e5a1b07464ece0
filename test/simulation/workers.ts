/** What the Worker's entry imports from the runtime. */
export class WorkerEntrypoint {}
