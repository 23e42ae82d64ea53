export const shell = {
  buckets: 'Buckets',
  allBuckets: 'All buckets',
  transfers: 'Transfers',
  activity: 'Activity',
  people: 'People and keys',
  profile: 'Profile',
  menu: 'Show the list of buckets',
  goTo: 'Go to bucket …',
  offline: 'No connection to the service. What is shown may be out of date; transfers are waiting.',
  notFound: 'There is nothing at this address.',
  shortcuts: 'Keyboard shortcuts',
  quotaOf: (used: string, limit: string) => `${used} of ${limit} buckets`,
};

export const keys = {
  title: 'Keyboard shortcuts',
  search: 'Search in the bucket',
  filter: 'Filter',
  buckets: 'All buckets',
  move: 'Move in the list; hold Shift to select',
  open: 'Open folder or details',
  preview: 'Details',
  upload: 'Upload files',
  folder: 'New folder',
  rename: 'Rename',
  delete: 'Delete',
  all: 'Select all',
  up: 'Folder above',
  help: 'This list',
};

export const signIn = {
  title: 'Sign in',
  accessKey: 'Access key',
  secret: 'Secret key',
  keep: 'Keep me signed in on this device',
  keepMeaning:
    'The secret becomes a key that signs and cannot be read. It stays in this browser until you sign out, or for 12 hours without use.',
  tabMeaning:
    'The secret becomes a key that signs and cannot be read. It is forgotten when this page is closed or reloaded.',
  submit: 'Sign in',
  endpoint: (endpoint: string) => `to ${endpoint}`,
  insecure:
    'This page was not loaded over HTTPS, so the browser offers no protected storage for keys. You can sign in for as long as this page is open; the secret is then in the page’s memory, and others on the network can read what you do.',
  rcFile: 'Download an rc file for the command line',
  rcMeaning: 'It contains the secret: keep it where only you can read it.',
  idle: 'You were signed out because nothing happened for a while.',
  elsewhere: 'You signed out in another tab.',
  rejected:
    'The service no longer accepts this access key: it was removed, suspended or replaced. Sign in with another one.',
  refused: 'This access key and secret do not match. Check both; the secret is case-sensitive.',
};
