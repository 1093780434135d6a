/** What a thread id is. A copy of the server's, which a test compares: in the bundle of the client every byte counts. */
export const isThreadId = /^(?!\.{1,2}$)[A-Za-z0-9._:@~-]{1,128}$/
