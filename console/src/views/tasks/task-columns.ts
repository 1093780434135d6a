/**
 * The columns of the list and its head, as many as leave the description room: on a tablet it stands beside the status and the
 * children alone, and each step of width brings more. What has no column there is on the page of the task.
 */
export const columns = [
  'md:grid md:items-center md:gap-x-3 md:grid-cols-[3.5rem_7rem_minmax(10rem,1fr)_6.5rem]',
  'lg:grid-cols-[3.5rem_7rem_minmax(10rem,1fr)_6.5rem_6.5rem_5rem]',
  'xl:grid-cols-[3.5rem_7rem_minmax(10rem,1fr)_6.5rem_6.5rem_5rem_3rem_4.5rem]',
  'min-[85rem]:grid-cols-[3.5rem_7rem_minmax(10rem,1fr)_6.5rem_7.5rem_6.5rem_5rem_3rem_4.5rem]',
].join(' ')

/** How a column that is not always there looks, and from which width on it is. */
export const column = {
  agent: 'hidden lg:block',
  thread: 'hidden min-[85rem]:block',
  children: 'hidden md:block',
  ran: 'hidden text-right lg:block',
  age: 'hidden text-right xl:block',
  id: 'hidden text-right xl:block',
} as const
