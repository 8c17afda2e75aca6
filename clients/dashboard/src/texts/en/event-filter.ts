export const eventFilter = {
  title: 'Filter',
  description:
    'Only events whose payload matches all entries are sent. Leave it empty for all events. Operators: $eq, $in, $gte, $lte, $exists.',
  all: 'All events of these types',
  fields: 'Fields that all selected types have',
  notJson: (reason: string) => `This is not JSON. ${reason}`,
  notObject: 'Enter a JSON object, such as {"data.total": {"$gte": 10000}}.',
  preview: 'Try on the last events',
  previewTitle: 'Last events',
  summary: (matching: string, of: string) => `${matching} of ${of} would have been sent`,
  noEvents: 'None of the newest 1,000 events is of these types and locations.',
  outdated: 'This is the result of an earlier filter.',
  columns: { event: 'Event', result: 'Result' },
  matches: 'Sent',
  unmatched: 'Not sent',
};
