/** A request that failed or got no reply. Its message is for the person at the terminal. */
export class ApiError extends Error {
  /** Whether the same call may work a little later. */
  readonly temporary: boolean;

  constructor(message: string, temporary = false) {
    super(message);
    this.temporary = temporary;
  }
}

/** Part of a list, and the cursor of the rest. */
export type Page<T> = { data: T[]; next?: string };

/** A client of the operators' routes of one service. */
export type Operator = {
  get: <T>(path: string) => Promise<T>;
  /** Reads one page of a list. */
  page: <T>(path: string) => Promise<Page<T>>;
  /** Reads a list to its end, however many parts it comes in. */
  list: <T>(path: string) => Promise<T[]>;
  post: <T>(path: string, body: unknown) => Promise<T>;
  put: <T>(path: string, body: unknown) => Promise<T>;
  patch: <T>(path: string, body: unknown) => Promise<T>;
  delete: <T>(path: string) => Promise<T>;
};

/** Returns a client of the service at `baseUrl`. Its methods return the `data` of a reply, or throw an ApiError. */
export function operatorOf(baseUrl: string, operatorKey: string): Operator {
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' };
  const call = <T>(method: string, path: string, body?: unknown): Promise<T> =>
    request<T>(`${baseUrl}/operator${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const list = async <T>(path: string): Promise<T[]> => {
    const items: T[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const query: string = cursor && `?cursor=${encodeURIComponent(cursor)}`;
      const part: Envelope<T[]> = await envelope(`${baseUrl}/operator${path}${query}`, { headers });
      items.push(...part.data);
      cursor = part.next;
    }
    return items;
  };
  return {
    get: (path) => call('GET', path),
    page: (path) => envelope(`${baseUrl}/operator${path}`, { headers }),
    list,
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
  };
}

/** Makes one request and returns the `data` of its envelope. @throws ApiError */
export const request = async <T>(url: string, init: RequestInit): Promise<T> =>
  (await envelope<T>(url, init)).data;

type Envelope<T> = { message?: string; data: T; next?: string };

async function envelope<T>(url: string, init: RequestInit): Promise<Envelope<T>> {
  const response = await fetch(url, init).catch(() => {
    throw new ApiError(`Cannot reach ${new URL(url).origin}. Is the service running? (npm start)`, true);
  });
  const reply = (await response.json().catch(() => {
    throw new ApiError(
      `${new URL(url).origin} sent a ${response.status} reply that is not JSON`,
      response.status >= 500,
    );
  })) as Envelope<T>; // what the service replies with
  if (!response.ok)
    throw new ApiError(
      `${response.status} ${reply.message ?? response.statusText}`,
      [429, 502, 503, 504].includes(response.status),
    );
  return reply;
}
