// Runs before the first paint, so that a chosen theme never flashes up as the other one.
try {
  const theme = localStorage.getItem('holdfast.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Where nothing may be kept, the theme of the system counts.
}
