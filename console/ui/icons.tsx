/** Icons of 16 × 16, drawn in lines. */
const paths = {
  bucket:
    'M2.5 4.5c0-1.1 2.5-2 5.5-2s5.5.9 5.5 2-2.5 2-5.5 2-5.5-.9-5.5-2Zm0 0 1.2 7.7c.2 1 2 1.8 4.3 1.8s4.1-.8 4.3-1.8l1.2-7.7',
  folder: 'M1.5 4.5v8h13V5H8L6.5 3.5h-5v1Z',
  file: 'M4 1.5h5l3.5 3.5v9.5H4a.5.5 0 0 1-.5-.5V2a.5.5 0 0 1 .5-.5ZM9 1.5V5h3.5',
  image: 'M2 2.5h12v11H2zM2 11l3.5-3.5 3 3 2-2L14 12M10.5 6a1 1 0 1 0 0-.01',
  audio: 'M6 12V3.5l7-1.5v8.5M6 12a2 2 0 1 1-4 0 2 2 0 0 1 4 0Zm7-1.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0Z',
  video: 'M1.5 3.5h9v9h-9zM10.5 7l4-2.5v7l-4-2.5',
  text: 'M4 1.5h5l3.5 3.5v9.5h-9v-13zM6 7h4.5M6 9.5h4.5M6 12h3',
  archive: 'M3 1.5h10v13H3zM7 1.5v2h2v2H7v2h2v2',
  document: 'M4 1.5h5l3.5 3.5v9.5h-9v-13zM9 1.5V5h3.5M6 8h4M6 11h4',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14',
  filter: 'M2 4h12M4.5 8h7M7 12h2',
  upload: 'M8 11V2.5M4.5 6 8 2.5 11.5 6M2.5 10.5v3h11v-3',
  download: 'M8 2.5V11M4.5 7.5 8 11l3.5-3.5M2.5 10.5v3h11v-3',
  plus: 'M8 3v10M3 8h10',
  close: 'm4 4 8 8m0-8-8 8',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  chevron: 'm6 3.5 4.5 4.5L6 12.5',
  down: 'm3.5 6 4.5 4.5L12.5 6',
  star: 'm8 1.8 1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6L8 1.8Z',
  user: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-5.5 6c.5-2.8 2.7-4.5 5.5-4.5s5 1.7 5.5 4.5',
  people:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-4.5 5.5c.4-2.4 2.2-3.8 4.5-3.8s4.1 1.4 4.5 3.8M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 10.2c1.4.5 2.3 1.7 2.5 3.3',
  transfers: 'M5 13V3M2 6l3-3 3 3M11 3v10m-3-3 3 3 3-3',
  activity: 'M1.5 8h3l2-5 3 10 2-5h3',
  settings:
    'M2 4.5h7m3 0h2M2 11.5h2m3 0h7M10.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm-5 7a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z',
  trash: 'M2.5 4h11M6 4V2h4v2M4 4l.6 10h6.8L12 4M6.7 7v4M9.3 7v4',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  rename: 'm10.5 2.5 3 3-8 8H2.5v-3l8-8Z',
  link: 'M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7',
  lock: 'M3.5 7.5h9v6.5h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  globe: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM1.5 8h13M8 1.5c-4 4-4 9 0 13 4-4 4-9 0-13Z',
  refresh: 'M13.5 8a5.5 5.5 0 1 1-1.6-3.9L13.5 5.5M13.5 2v3.5H10',
  pause: 'M5.5 3v10M10.5 3v10',
  play: 'M4.5 2.5v11L13 8 4.5 2.5Z',
  stop: 'M3.5 3.5h9v9h-9z',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  warning: 'M8 2 1.5 13.5h13L8 2Zm0 4.5V10m0 1.8v.01',
  history: 'M2.5 8A5.5 5.5 0 1 0 4 4.2L2.5 5.5M2.5 2.5v3h3M8 5v3.2l2.2 1.3',
  menu: 'M2 4h12M2 8h12M2 12h12',
  back: 'M10 3.5 5.5 8l4.5 4.5',
} as const;

export type IconName = keyof typeof paths;

/** An icon that only decorates: what it stands beside says the same in words. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
