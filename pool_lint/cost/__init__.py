"""What creating, borrowing and resetting cost: profiles, the measurements behind them, arithmetic, prediction."""
