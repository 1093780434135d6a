/** A holdfast: what keeps kelp on its rock. */
export function Mark({ className = 'size-6' }: { readonly className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={`text-accent ${className}`}>
      <g fill="none" stroke="currentColor" strokeWidth="2.6" strokeLinecap="round">
        <path d="M16 3v15M16 18c0 4.5-3.5 8-9 8.5M16 18c0 4.5 3.5 8 9 8.5M16 18v11" />
        <path d="M16 12.5c-4 0-7-1.8-7-5.5M16 12.5c4 0 7-1.8 7-5.5" />
      </g>
    </svg>
  )
}
