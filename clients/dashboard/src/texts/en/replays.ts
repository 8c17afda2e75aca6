export const replays = {
  title: 'Replays',
  titleOf: (integration: string) => `Replays to ${integration}`,
  description:
    'A replay sends past events of a time span again, as new deliveries with the same event ids. Events are kept for 30 days.',
  start: 'Replay events',
  columns: { span: 'Time span', status: 'Status', deliveries: 'Deliveries', started: 'Started', finished: 'Finished' },
  statuses: { running: 'Running', done: 'Done' },
  single: 'One delivery',
  empty: {
    title: 'No replays yet',
    text: 'Replay the events of a time span, for example after the receiver had lost them.',
  },
  form: {
    title: 'Replay events',
    text: 'All events of this span whose types the integration receives are sent again, delivered or not, unless you choose only what failed.',
    since: 'From',
    until: 'Until',
    untilDescription: 'Leave it empty for all events up to now.',
    sinceMissing: 'Choose when the span begins.',
    order: 'The end must be after the beginning.',
    onlyFailed: 'Only what failed',
    onlyFailedDescription:
      'Events whose delivery failed for good or expired, and that nothing has made up for since. Those that wait for another attempt are sent without a replay.',
    submit: 'Start replay',
  },
  onlyFailed: 'only what failed',
  started: 'The replay has started. The list shows how many deliveries it makes.',
};
