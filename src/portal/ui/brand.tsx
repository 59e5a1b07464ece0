/** The account's name beside the mark: it leads to the first page. */
export const Brand = ({ name }: { name: string }) => (
  <a class="brand" href="/portal">
    <Mark />
    <span>
      {name}
      <small>Fleet Data Service</small>
    </span>
  </a>
);

/** The service's mark. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="currentColor" />
    <path
      class="bars"
      d="m4.6 24.5 2.5-7h4.4L9 24.5zM11 24.5l4.3-12.3h4.4l-4.3 12.3zM17.4 24.5l6-17h4.4l-6 17z"
    />
  </svg>
);
